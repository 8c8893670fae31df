/** The rows of a statement. */
export interface PgRows {
  readonly rows: readonly unknown[]
}

/** The part of a connected `Client` of pg 8.11 and later that the store uses. */
export interface PgClient {
  query(text: string): Promise<PgRows>
  on(event: 'notification' | 'end' | 'error', listener: (...args: never[]) => void): unknown
  removeListener(event: 'notification' | 'end' | 'error', listener: (value: unknown) => void): unknown
}

/** A connection of a pool. */
export interface PgPoolClient extends PgClient {
  release(error?: Error | boolean): void
}

/** The part of `Pool` of pg 8.11 and later that the store uses. */
export interface PgPool {
  readonly totalCount: number
  readonly options?: { readonly max?: number | undefined } | undefined
  connect(listener: (error: Error | undefined, client: PgPoolClient | undefined) => void): unknown
}

/** A statement of postgres.js. */
export interface PostgresJsQuery extends PromiseLike<readonly unknown[]> {
  /** Its text, which is not in the types of the library. */
  readonly strings?: unknown
}

/** The part of `postgres()` of postgres.js 3.4 and later that the store uses. */
export interface PostgresJs {
  readonly options?: { readonly max?: number | undefined } | undefined
  unsafe(text: string): PostgresJsQuery
  listen(
    channel: string,
    onNotify: (payload: string) => void,
    onListen?: () => void,
  ): Promise<{ unlisten(): Promise<unknown> }>
}

/** A pool or a client of pg, or `sql` of postgres.js. */
export type PostgresClient = PgPool | PgClient | PostgresJs
