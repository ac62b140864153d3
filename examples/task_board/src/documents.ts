// What the board asks, and what comes back.
import { type TypedDocumentNode, gql } from "@apollo/client";

export const COLUMNS = ["todo", "doing", "done"] as const;
export type Status = (typeof COLUMNS)[number];

export interface Task {
  __typename: "Task";
  id: string;
  version: number;
  title: string;
  status: Status;
  notes: string | null;
}

const TASK = gql`
  fragment TaskParts on Task { id version title status notes }
`;

export const TASKS: TypedDocumentNode<{ tasks: { nodes: Task[] } }> = gql`
  query Tasks { tasks(first: 200) { nodes { ...TaskParts } } }
  ${TASK}
`;

export const ONE_TASK: TypedDocumentNode<{ task: Task | null }, { id: string }> = gql`
  query OneTask($id: ID!) { task(id: $id) { ...TaskParts } }
  ${TASK}
`;

export interface CreateInput {
  title: string;
  status: Status;
  /** The same key sent twice makes one task. */
  idempotencyKey: string;
}

export const CREATE: TypedDocumentNode<{ createTask: { node: Task } }, { input: CreateInput }> = gql`
  mutation Create($input: CreateTaskInput!) { createTask(input: $input) { node { ...TaskParts } } }
  ${TASK}
`;

export interface UpdateInput {
  id: string;
  /** The version that the form was filled from: VERSION_CONFLICT when somebody was first. */
  expectedVersion: number;
  title: string;
  status: Status;
  notes: string;
}

export const UPDATE: TypedDocumentNode<{ updateTask: { node: Task } }, { input: UpdateInput }> = gql`
  mutation Update($input: UpdateTaskInput!) { updateTask(input: $input) { node { ...TaskParts } } }
  ${TASK}
`;

export interface TaskChange {
  taskChanged: { id: string; seq: number; change: "ADDED" | "CHANGED" | "DELETED"; node: Task | null };
}

export const CHANGES: TypedDocumentNode<TaskChange, { afterSeq: number }> = gql`
  subscription Changes($afterSeq: Position) { taskChanged(afterSeq: $afterSeq) { id seq change node { ...TaskParts } } }
  ${TASK}
`;
