// Lists that come by page, as one iterator.

export interface PageInfo {
  hasNextPage: boolean;
  endCursor: string | null;
}

export interface Connection<T> {
  nodes: T[];
  pageInfo: PageInfo;
}

/** All items of a list. The next page is read when the one before is used up, so whoever stops early reads no more. */
export async function* pages<T>(read: (after: string | null) => Promise<Connection<T>>, after: string | null = null): AsyncGenerator<T, void, undefined> {
  let cursor = after;
  for (;;) {
    const { nodes, pageInfo } = await read(cursor);
    yield* nodes;
    if (!pageInfo.hasNextPage || pageInfo.endCursor === null) return;
    cursor = pageInfo.endCursor;
  }
}
