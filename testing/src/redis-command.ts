import { connect as connectPlainly } from 'node:net'
import { addAbortSignal } from 'node:stream'
import { connect as connectSecurely } from 'node:tls'

/** An answer of Redis. An error within a list is an `Error`. */
export type RedisReply = string | number | null | Error | readonly RedisReply[]

/** Which server is asked, on 127.0.0.1. */
interface RedisAddress {
  readonly port: number
  readonly password?: string | undefined
  /** The certificate that vouches for it, for one that speaks TLS. */
  readonly ca?: string | undefined
}

/** How long an answer may take, in milliseconds: a frozen server gives none. */
const LIMIT = 5_000

const NEW_LINE = '\r\n'

/**
 * Asks once, on a connection of its own, so that no client library stands between a test and the server. Rejects with an
 * error of the server, whose message begins with its code; and when there is no answer within 5 s.
 */
export async function redisCommand(address: RedisAddress, args: readonly (string | number)[]): Promise<RedisReply> {
  const { password } = address
  const commands = [...(password === undefined ? [] : [['AUTH', password]]), args]
  const limit = AbortSignal.timeout(LIMIT)
  const replies = await redisCommands(address, commands, limit).catch((error: unknown) => {
    throw limit.aborted ? new Error(`no answer to ${args[0]} within ${LIMIT} ms`) : error
  })
  const failure = replies.find((reply) => reply instanceof Error)
  if (failure !== undefined) throw failure
  return replies.at(-1) ?? null
}

/** Sends several commands over a connection of their own. The answers have the same order, and may be errors. */
export async function redisCommands(
  { port, ca }: RedisAddress,
  commands: readonly (readonly (string | number)[])[],
  signal: AbortSignal,
): Promise<RedisReply[]> {
  const target = { port, host: '127.0.0.1' }
  const socket = ca === undefined ? connectPlainly(target) : connectSecurely({ ...target, ca })
  addAbortSignal(signal, socket)
  socket.write(commands.map(encoded).join(''))
  let said = Buffer.alloc(0)
  // The end of the loop ends the connection.
  for await (const bytes of socket) {
    said = Buffer.concat([said, bytes as Buffer])
    const replies = listFrom(said, 0, commands.length)?.value
    if (replies !== undefined) return replies
  }
  throw new Error('the server ended the connection without an answer')
}

function encoded(args: readonly (string | number)[]): string {
  const parts = args.map((arg) => `$${Buffer.byteLength(String(arg))}${NEW_LINE}${arg}${NEW_LINE}`)
  return `*${args.length}${NEW_LINE}${parts.join('')}`
}

/** The value, and where the next one begins; `undefined` if it is incomplete. */
interface Read<T> {
  readonly value: T
  readonly end: number
}

function replyFrom(bytes: Buffer, start: number): Read<RedisReply> | undefined {
  const lineEnd = bytes.indexOf(NEW_LINE, start)
  if (lineEnd < 0) return undefined
  const line = bytes.toString('utf8', start + 1, lineEnd)
  const end = lineEnd + NEW_LINE.length
  const kind = String.fromCharCode(bytes[start] ?? 0)
  if (kind === '+') return { value: line, end }
  if (kind === '-') return { value: new Error(line), end }
  if (kind === ':') return { value: Number(line), end }
  if (line === '-1') return { value: null, end }
  if (kind === '*') return listFrom(bytes, end, Number(line))
  if (kind !== '$') throw new Error(`this is no answer of Redis: ${kind}${line}`)
  const textEnd = end + Number(line)
  if (bytes.length < textEnd + NEW_LINE.length) return undefined
  return { value: bytes.toString('utf8', end, textEnd), end: textEnd + NEW_LINE.length }
}

function listFrom(bytes: Buffer, start: number, length: number): Read<RedisReply[]> | undefined {
  const value: RedisReply[] = []
  let end = start
  while (value.length < length) {
    const next = replyFrom(bytes, end)
    if (next === undefined) return undefined
    value.push(next.value)
    end = next.end
  }
  return { value, end }
}
