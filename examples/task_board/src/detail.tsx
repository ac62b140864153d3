// One task: a form that sends the version it was filled from, and both sides when somebody was first.
import { CombinedGraphQLErrors } from "@apollo/client";
import { useMutation } from "@apollo/client/react";
import { type FormEvent, useState } from "react";
import { COLUMNS, ONE_TASK, type Status, type Task, UPDATE } from "./documents.ts";
import { client } from "./gateway.ts";

type Draft = Pick<Task, "title" | "status"> & { notes: string };

function draftOf({ title, status, notes }: Task): Draft {
  return { title, status, notes: notes ?? "" };
}

export function Detail({ task, close }: { task: Task; close: () => void }) {
  const [draft, setDraft] = useState(() => draftOf(task));
  // Others may change the task while it is edited: what counts is the version that was read.
  const [version, setVersion] = useState(task.version);
  const [theirs, setTheirs] = useState<Task | null>(null);
  const [update, { error, loading }] = useMutation(UPDATE);
  const save = async (expectedVersion: number) => {
    try {
      await update({ variables: { input: { id: task.id, expectedVersion, ...draft } } });
      close();
    } catch (refused) {
      if (!isConflict(refused)) return;
      const { data } = await client.query({ query: ONE_TASK, variables: { id: task.id }, fetchPolicy: "network-only" });
      setTheirs(data?.task ?? null);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void save(version);
  };
  const takeTheirs = (found: Task) => {
    setDraft(draftOf(found));
    setVersion(found.version);
    setTheirs(null);
  };
  return (
    <aside aria-label="Task">
      <form onSubmit={submit}>
        <label>Title<input value={draft.title} required onChange={(event) => setDraft({ ...draft, title: event.target.value })} /></label>
        <label>Status<select value={draft.status} onChange={(event) => setDraft({ ...draft, status: event.target.value as Status })}>{COLUMNS.map((status) => <option key={status}>{status}</option>)}</select></label>
        <label>Notes<textarea rows={5} value={draft.notes} onChange={(event) => setDraft({ ...draft, notes: event.target.value })} /></label>
        <p><button type="submit" disabled={loading}>Save</button> <button type="button" onClick={close}>Close</button> <small>version {version}</small></p>
      </form>
      {theirs && (
        <div role="alert" className="conflict">
          <h3>Somebody was first</h3>
          <table>
            <thead><tr><th /><th>Yours</th><th>Theirs</th></tr></thead>
            <tbody>{(["title", "status", "notes"] as const).map((name) => <tr key={name}><th>{name}</th><td>{draft[name]}</td><td>{theirs[name]}</td></tr>)}</tbody>
          </table>
          <p><button type="button" onClick={() => void save(theirs.version)}>Save mine</button> <button type="button" onClick={() => takeTheirs(theirs)}>Take theirs</button></p>
        </div>
      )}
      {error && !isConflict(error) && <em role="alert">{error.message}</em>}
    </aside>
  );
}

function isConflict(error: unknown): boolean {
  return CombinedGraphQLErrors.is(error) && error.errors.some(({ extensions }) => extensions?.code === "VERSION_CONFLICT");
}
