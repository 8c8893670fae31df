import { JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { headers, type MsgHdrs, type NatsConnection } from '@nats-io/transport-node'
import { REGISTERS } from './settings.js'

/** The error of JetStream that another message of the subject was written. */
const WRONG_LAST_SEQUENCE = 10_071

/** How often a read is tried when writers are faster. */
const ROUNDS = 10

/**
 * Reads a register strongly: a former leader that has not noticed its end may answer a read with an old value, but confirms no
 * write. So the message that was read is written again, as it was and only if it is still the last one: the value was the
 * current one when that was confirmed.
 */
export async function confirmedRead(
  connection: NatsConnection,
  name: string,
  timeout: number,
): Promise<string | undefined> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const last = await lastMessage(connection, name, timeout)
    try {
      await jetstream(connection, { timeout }).publish(subjectOf(name), last.data, {
        headers: last.headers,
        expect: { lastSubjectSequence: last.sequence },
        timeout,
        retries: 1,
      })
      return last.value
    } catch (error) {
      if (!(error instanceof JetStreamApiError) || error.code !== WRONG_LAST_SEQUENCE) throw error
    }
  }
  throw new Error(`${name} was written faster than it was read`)
}

interface LastMessage {
  readonly sequence: number
  readonly headers: MsgHdrs
  readonly data: Uint8Array
  /** `undefined` before the first write. */
  readonly value: string | undefined
}

async function lastMessage(connection: NatsConnection, name: string, timeout: number): Promise<LastMessage> {
  const manager = await jetstreamManager(connection, { timeout, checkAPI: false })
  const found = await manager.streams.getMessage(`KV_${REGISTERS}`, { last_by_subj: subjectOf(name) })
  const copied = headers()
  if (found === null) {
    copied.set('KV-Operation', 'DEL')
    return { sequence: 0, headers: copied, data: new Uint8Array(), value: undefined }
  }
  // Only those of the guard: the others are about the conditions of the last write.
  for (const key of ['Leasehold-Fencing-Token', 'KV-Operation']) {
    if (found.header?.has(key)) copied.set(key, found.header.get(key))
  }
  const value = copied.has('KV-Operation') ? undefined : found.string()
  return { sequence: found.seq, headers: copied, data: found.data, value }
}

function subjectOf(name: string): string {
  return `$KV.${REGISTERS}.${name}`
}
