import { isCount, shownValue } from '@leasehold/core/internal'
import { parsedJSON } from '@leasehold/core/store-kit'
import type { AnswerMessage, Batch, EventMessage, Receipt } from '../message.js'
import { PROTOCOL } from '../message.js'

/** The text of the first messages of a batch. */
export interface BatchText {
  readonly text: string
  /** How many messages it has. */
  readonly count: number
}

/**
 * The text of a batch, with as many of its first messages as `limit` bytes can hold. A receipt if already the first message
 * cannot be sent: the batch then has no text.
 */
export function writeBatch(batch: Batch, limit: number): BatchText | Receipt {
  const { messages, ...head } = batch
  const texts: string[] = []
  const opening = `${JSON.stringify(head).slice(0, -1)},"messages":[`
  let size = Buffer.byteLength(opening) + 2
  for (const message of messages) {
    const text = textOf(message)
    size += text === undefined ? 0 : Buffer.byteLength(text) + 1
    if (text === undefined || size > limit) {
      if (texts.length > 0) break
      const reason =
        text === undefined ? 'the event is no JSON' : `the message is too large for a batch of ${limit} bytes`
      return { outcome: 'refused', reason }
    }
    texts.push(text)
  }
  return { text: `${opening}${texts.join(',')}]}`, count: texts.length }
}

function textOf(message: unknown): string | undefined {
  try {
    return JSON.stringify(message)
  } catch {
    // A cycle, a bigint, or a `toJSON` that throws.
    return undefined
  }
}

/** A batch as another process has sent it, or the reason why the text is none. */
export type ReadBatch = { readonly batch: Batch } | { readonly fault: string; readonly isOtherProtocol: boolean }

/** Reads the text that another process has sent: anything can be in it. */
export function readBatch(text: string, region: string): ReadBatch {
  const value = parsedJSON(text)
  if (!isRecord(value)) return noBatch('the body is no JSON object')
  // First, because another protocol may have other fields.
  if (value.protocol !== PROTOCOL) {
    const fault = `this process speaks protocol ${PROTOCOL}, and the sender ${shownValue(value.protocol)}`
    return {
      fault: `${fault}: run one version of @leasehold/sharding everywhere`,
      isOtherProtocol: isCount(value.protocol),
    }
  }
  const { shards, sender, run, sequence, messages } = value
  if (value.region !== region) return noBatch('its region is not that of the path')
  if (!isCount(shards) || shards === 0) return noBatch('shards is no number of shards')
  if (!isRecord(sender) || typeof sender.owner !== 'string' || typeof sender.address !== 'string') {
    return noBatch('sender has no owner or no address')
  }
  if (typeof run !== 'string' || !isCount(sequence)) return noBatch('run or sequence is missing')
  if (!Array.isArray(messages)) return noBatch('messages is no list')
  const wrong = messages.findIndex((message) => !isMessage(message, shards))
  if (wrong >= 0) return noBatch(`message ${wrong} has another shape`)
  return { batch: value as unknown as Batch }
}

function noBatch(why: string): ReadBatch {
  return { fault: `this is no batch of messages: ${why}`, isOtherProtocol: false }
}

function isMessage(value: unknown, shards: number): boolean {
  if (!isRecord(value)) return false
  if (value.kind === 'answer') return isAnswer(value as Partial<AnswerMessage>)
  return value.kind === 'event' && isEvent(value as Partial<EventMessage>, shards)
}

function isEvent(message: Partial<EventMessage>, shards: number): boolean {
  const { shard, entity, event, id, question, wantsReply, session } = message
  return (
    isCount(shard) &&
    shard < shards &&
    typeof entity === 'string' &&
    event !== undefined &&
    isTextOrAbsent(id) &&
    (question === undefined || isCount(question)) &&
    (wantsReply === undefined || typeof wantsReply === 'boolean') &&
    isTextOrAbsent(session)
  )
}

function isAnswer({ question, outcome }: Partial<AnswerMessage>): boolean {
  if (!isCount(question) || !isRecord(outcome)) return false
  const { type, reason, again } = outcome as Record<string, unknown>
  if (type === 'answered') return true
  return (type === 'not-delivered' || type === 'unknown') && typeof reason === 'string' && isTextOrAbsent(again)
}

/** The receipts in the answer to `count` messages; `undefined` if the text is something else. */
export function readReceipts(text: string, count: number): readonly Receipt[] | undefined {
  const value = parsedJSON(text)
  if (!Array.isArray(value) || value.length !== count) return undefined
  return value.every(isReceipt) ? value : undefined
}

function isReceipt(value: unknown): value is Receipt {
  if (!isRecord(value)) return false
  if (value.outcome === 'moved') return isTextOrAbsent(value.address) && isTextOrAbsent(value.session)
  return value.outcome === 'accepted' || (value.outcome === 'refused' && typeof value.reason === 'string')
}

function isTextOrAbsent(value: unknown): boolean {
  return value === undefined || typeof value === 'string'
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
