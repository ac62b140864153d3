// The board: a column for each status, a form for a new task, and one task in detail.
import { ApolloProvider, useMutation, useQuery } from "@apollo/client/react";
import { type FormEvent, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";
import { Detail } from "./detail.tsx";
import { COLUMNS, CREATE, type Status, TASKS } from "./documents.ts";
import { client, readPosition } from "./gateway.ts";
import { followTasks } from "./live.ts";
import "./board.css";

const TITLES: Record<Status, string> = { todo: "To do", doing: "Doing", done: "Done" };

function Board({ isLive }: { isLive: boolean }) {
  const { data, error, refetch } = useQuery(TASKS);
  const [chosen, setChosen] = useState<string | null>(null);
  if (error) return <p role="alert">{error.message} <button type="button" onClick={() => void refetch()}>Try again</button></p>;
  if (!data) return <p>Loading …</p>;
  const tasks = data.tasks.nodes;
  const task = tasks.find(({ id }) => id === chosen);
  return (
    <>
      <header><h1>Task board</h1><NewTask /><span role="status">{isLive ? "live" : "connection lost, trying again …"}</span></header>
      <main>
        {COLUMNS.map((status) => (
          <section key={status} aria-label={TITLES[status]} data-status={status}>
            <h2>{TITLES[status]}</h2>
            <ul>
              {tasks.filter((each) => each.status === status).map(({ id, title }) => (
                <li key={id}><button type="button" aria-pressed={id === chosen} onClick={() => setChosen(id)}>{title}</button></li>
              ))}
            </ul>
          </section>
        ))}
        {task && <Detail key={task.id} task={task} close={() => setChosen(null)} />}
      </main>
    </>
  );
}

function NewTask() {
  const [title, setTitle] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const [create, { error, loading }] = useMutation(CREATE);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    // After a failure the same key goes again, so that a task whose answer was lost is not made twice.
    const made = await create({ variables: { input: { title, status: "todo", idempotencyKey: key } } }).catch(() => null);
    if (!made) return;
    setTitle("");
    setKey(crypto.randomUUID());
  };
  return (
    <form onSubmit={(event) => void submit(event)}>
      <input aria-label="New task" placeholder="New task" value={title} required onChange={(event) => setTitle(event.target.value)} />
      <button type="submit" disabled={loading || !title.trim()}>Add</button>
      {error && <em role="alert">{error.message}</em>}
    </form>
  );
}

function App() {
  const [position, setPosition] = useState<number | null>(null);
  const [isLive, setLive] = useState(false);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    readPosition().then(setPosition, () => setProblem("The gateway cannot be reached. Is it running?"));
  }, []);
  useEffect(() => (position === null ? undefined : followTasks(position, setLive)), [position]);
  if (problem) return <p role="alert">{problem}</p>;
  // The list is read after the position is known: whatever happens in between comes by subscription.
  return position === null ? <p>Loading …</p> : <Board isLive={isLive} />;
}

createRoot(document.getElementById("board") as HTMLElement).render(<ApolloProvider client={client}><App /></ApolloProvider>);
