import { Rivals } from '../support/rivals.js'

export const rivals = new Rivals('redis')

/** What is set of ioredis beside the port. */
export interface ClientOptions {
  /** A command that is not answered within so many milliseconds fails. */
  readonly commandTimeout?: number
  /** Commands of one turn of the event loop travel together. */
  readonly enableAutoPipelining?: boolean
}

/** What the benchmark itself calls of a client of ioredis. */
export interface RedisClient {
  info(section: string): Promise<string>
  readonly status: string
  once(event: 'ready', listener: () => void): unknown
  on(event: 'error', listener: (error: Error) => void): unknown
  disconnect(): void
}

export interface RedisCommand {
  readonly promise: Promise<unknown>
}

interface Ioredis {
  readonly Redis: {
    new (options: ClientOptions & { readonly port: number; readonly host: string }): RedisClient
    readonly prototype: { sendCommand(command: RedisCommand, ...rest: unknown[]): unknown }
  }
}

export function ioredis(): Ioredis {
  return rivals.load<Ioredis>('ioredis')
}

/** A client of the version that every library here is measured with. */
export function openClient(port: number, options: ClientOptions = {}): RedisClient {
  const { Redis } = ioredis()
  const client = new Redis({ host: '127.0.0.1', port, ...options })
  // Of a client that is cut off on purpose, errors are no news.
  client.on('error', () => {})
  return client
}

export async function connected(client: RedisClient): Promise<void> {
  if (client.status === 'ready') return
  await new Promise<void>((resolve) => client.once('ready', resolve))
}
