// What the gateway's answers look like to Studio, and JSON.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Properties = { [key: string]: Json };

export interface GraphNode {
  id: string;
  type: string | null;
  label: string;
  scope: string;
  degree: number;
  version: number;
  created: number;
  modified: number;
  properties: Properties;
}

export interface GraphEdge {
  id: string;
  type: string | null;
  from: string;
  to: string;
  weight: number;
  version: number;
  properties: Properties;
}

export interface TypeCount {
  type: string | null;
  count: number;
}

export interface Stats {
  nodes: number;
  edges: number;
  types: number;
  properties: number;
  events: number;
  nodeTypes: TypeCount[];
  edgeTypes: TypeCount[];
}

export interface LogEvent {
  seq: number;
  timestamp: number;
  type: string;
  elementId: string | null;
  hidden: boolean;
  by: string | null;
  data: Json;
}

export interface PageInfo {
  hasNextPage: boolean;
  endCursor: string | null;
}

export type Direction = "outgoing" | "incoming";
