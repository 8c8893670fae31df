/** A way to lock, on a server. */
export interface Contender {
  readonly id: string
  /** As the tables show it. */
  readonly name: string
  /** Ours: the goals apply to it. */
  readonly ours: boolean
  /** The largest number of waiters that it can have on one server; a waiter of some keeps a connection busy. */
  readonly mostWaiters: number
  /** Clients of one process, with at most so many connections for all operations where it uses a pool. */
  open(url: string, connections: number): Promise<Session>
}

export interface Session {
  /** One acquire and release of a free name. Rejects if the name is held. */
  cycle(name: string): () => Promise<void>
  /** Waits until it holds the name; resolves with its release. */
  hold(name: string): Promise<() => Promise<void>>
  close(): Promise<void>
}

/** As a row begins with it. */
export function nameOf({ name, ours }: Contender): string {
  return ours ? `**${name}**` : name
}
