// What others change, as it happens: from a position on, over however many connections.
import { client } from "./gateway.ts";
import { CHANGES, type TaskChange, TASKS } from "./documents.ts";

const PAUSE_MS = 500;

/** Follow all changes after a position; returns a function that stops it. */
export function followTasks(position: number, tell: (isLive: boolean) => void): () => void {
  let after = position;
  let isStopped = false;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let subscription: { unsubscribe: () => void } | undefined;
  const again = () => {
    if (isStopped) return;
    tell(false);
    pause = setTimeout(connect, PAUSE_MS);
  };
  const connect = () => {
    tell(true);
    subscription = client.subscribe({ query: CHANGES, variables: { afterSeq: after }, errorPolicy: "all" }).subscribe({
      next: ({ data, error }) => {
        if (error) return again();
        if (!data || data.taskChanged.seq <= after) return;
        after = data.taskChanged.seq;
        take(data.taskChanged);
      },
      error: again,
      complete: again,
    });
  };
  connect();
  return () => {
    isStopped = true;
    clearTimeout(pause);
    subscription?.unsubscribe();
  };
}

/** A changed task is in the cache once it has come: only those that are new or gone change the list. */
function take({ id, change, node }: TaskChange["taskChanged"]): void {
  if (change === "DELETED") {
    client.cache.updateQuery({ query: TASKS }, (found) => found && { tasks: { ...found.tasks, nodes: found.tasks.nodes.filter((task) => task.id !== id) } });
  } else if (node) {
    client.cache.updateQuery({ query: TASKS }, (found) => {
      if (!found || found.tasks.nodes.some((task) => task.id === id)) return undefined;
      return { tasks: { ...found.tasks, nodes: [...found.tasks.nodes, node] } };
    });
  }
}
