import { once } from 'node:events'
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { LeaseConfigurationError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { misconfigured } from '../redis-options.js'

/** Where a client connects, and whether over TLS. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly isSecure: boolean
}

const DEFAULT_PORT = 6_379

/** The address in the options of a client; `undefined` if there is none, as with Sentinels and Unix sockets. */
export function addressIn(options: object | undefined): Address | undefined {
  const given = (options ?? {}) as Record<'host' | 'port' | 'path' | 'tls' | 'sentinels', unknown>
  if (given.path || given.sentinels) return undefined
  const port = Number(given.port ?? DEFAULT_PORT)
  return { host: String(given.host ?? 'localhost'), port, isSecure: Boolean(given.tls) }
}

/**
 * Resolves when one of the addresses takes a connection, for a client that tries again instead of saying why it has none.
 * Rejects with the reasons why none does, or when the signal is aborted.
 */
export async function anyReached(
  addresses: readonly { readonly host: string; readonly port?: number }[],
  signal: AbortSignal,
): Promise<void> {
  const over = new AbortController()
  const ending = AbortSignal.any([signal, over.signal])
  const reached = addresses.map(async ({ host, port = DEFAULT_PORT }) => {
    const socket = connectPlain({ host, port, signal: ending })
    await once(socket, 'connect').finally(() => socket.destroy())
  })
  try {
    await Promise.any(reached)
  } catch (error) {
    const { errors } = error as AggregateError
    throw errors.length === 1 ? errors[0] : error
  } finally {
    over.abort()
  }
}

/**
 * Asks a server over a connection of its own whether it speaks the other transport: Redis without TLS where the client uses
 * TLS, and the reverse. A server without TLS never answers a client that begins with it, and one with TLS closes the connection.
 * Resolves with the error that says so; with `undefined` if the server gives no answer before the call is aborted.
 */
export async function wrongTransport(
  { host, port, isSecure }: Address,
  call: StoreCall,
): Promise<LeaseConfigurationError | undefined> {
  const isOther = isSecure ? await answersPing(host, port, call) : await answersTls(host, port, call)
  if (!isOther) return undefined
  const place = `the server at ${host}:${port}`
  return misconfigured(
    isSecure
      ? `${place} does not speak TLS: begin the URL with redis: instead of rediss:, or give the client no tls`
      : `${place} speaks TLS only: begin the URL with rediss: instead of redis:, or give the client tls`,
  )
}

/** Every answer of Redis to PING begins with a plus or a minus, also if Redis asks for a password first. */
function answersPing(host: string, port: number, call: StoreCall): Promise<boolean> {
  return outcomeOf(connectPlain({ host, port }), call, (socket, resolve) => {
    socket.on('connect', () => socket.write('PING\r\n'))
    socket.on('data', (data) => resolve(/^[+-]/.test(data.toString('latin1'))))
  })
}

/** Sends nothing over the connection, so the certificate does not matter. */
function answersTls(host: string, port: number, call: StoreCall): Promise<boolean> {
  return outcomeOf(connectTls({ host, port, rejectUnauthorized: false }), call, (socket, resolve) => {
    socket.on('secureConnect', () => resolve(true))
    // A server that asks for a certificate of the client, and does not get one, says so by TLS.
    socket.on('error', (error: NodeJS.ErrnoException) => resolve(/^ERR_SSL_.*ALERT/.test(error.code ?? '')))
  })
}

function outcomeOf<T extends Socket>(
  socket: T,
  call: StoreCall,
  listen: (socket: T, resolve: (outcome: boolean) => void) => void,
): Promise<boolean> {
  return new Promise<boolean>((resolve) => {
    const removeListener = call.onAbort(() => end(false))
    const end = (outcome: boolean): void => {
      removeListener()
      socket.destroy()
      resolve(outcome)
    }
    listen(socket, end)
    socket.on('error', () => end(false))
    socket.on('close', () => end(false))
  })
}
