import { randomUUID } from 'node:crypto'
import { shownValue } from '@leasehold/core/internal'
import type { StoreCall } from '@leasehold/core/store'
import { parsedJSON } from '@leasehold/core/store-kit'
import { ApiError, type ApiFault, isRefusal } from './api-error.js'
import type { NatsHeaders, NatsMessage } from './client/nats-client.js'
import type { Connection } from './connection.js'
import { type Asked, failureOf, isUnheard } from './failure-of.js'
import { type Delivered, watchKey } from './key-watch.js'
import { misconfigured } from './nats-options.js'

/** The longest time of a request without a limit of its own, in milliseconds. */
const LONGEST = 30_000

/** The last message of a key. */
export interface KeyValue {
  readonly revision: number
  readonly value: Buffer
  /** Whether the message says that the key was deleted. */
  readonly isDeleted: boolean
  /** When the leader took it, by its own clock, in milliseconds since 1970. */
  readonly writtenAt: number
  /** The header with this name; empty if there is none. */
  readonly header: (name: string) => string
}

export interface WriteConditions {
  /** The revision of the last message of the key; 0 if there must be none. */
  readonly expected: number
  /** Kept with the value. */
  readonly headers?: Readonly<Record<string, string>>
}

/** The part of the answer to `STREAM.INFO` that leases depend on. */
export interface BucketInfo {
  readonly config: BucketConfig
  readonly state: { readonly subjects?: Readonly<Record<string, number>> }
  /** Absent without a cluster, or without a name there. */
  readonly cluster?: { readonly name?: string }
  /** The time of the leader when it answered. Since NATS 2.10. */
  readonly ts?: string
  readonly total?: number
}

export interface BucketConfig {
  readonly num_replicas: number
  readonly storage: string
  readonly discard: string
  /** In nanoseconds; 0 for none. */
  readonly max_age: number
  readonly max_msgs: number
  readonly max_bytes: number
  readonly mirror?: unknown
  readonly sources?: unknown
  readonly persist_mode?: string
}

export interface BucketOptions {
  readonly bucket: string
  readonly domain: string | undefined
  readonly create: boolean
}

/** The requests of JetStream for one bucket. Those for keys are answered by the leader of its stream only. */
export class Bucket {
  readonly name: string
  readonly #stream: string
  readonly #connection: Connection
  readonly #api: string
  readonly #prefix: string
  readonly #create: boolean

  constructor(connection: Connection, { bucket, domain, create }: BucketOptions) {
    if (typeof bucket !== 'string' || !/^[-\w]+$/.test(bucket)) {
      throw misconfigured(`bucket must be a name of letters, digits, '-' and '_' only, not ${shownValue(bucket)}`)
    }
    if (domain !== undefined && !/^[^\s.*>]+$/.test(domain)) {
      throw misconfigured(`domain must be a name without spaces, '.', '*' and '>', not ${shownValue(domain)}`)
    }
    this.name = bucket
    this.#stream = `KV_${bucket}`
    this.#connection = connection
    this.#api = domain === undefined ? '$JS.API' : `$JS.${domain}.API`
    this.#prefix = domain === undefined ? '' : `${this.#api}.`
    this.#create = create
  }

  /** The subject of a key, or of all keys: `>`. */
  subjectOf(key: string): string {
    return `$KV.${this.name}.${key}`
  }

  /** The last message of a key; `undefined` if there is none. */
  async get(key: string, asked: Asked, call: StoreCall): Promise<KeyValue | undefined> {
    try {
      const answer = await this.#ask('STREAM.MSG.GET', { last_by_subj: this.subjectOf(key) }, call)
      return storedValue((answer as { message: StoredMessage }).message)
    } catch (error) {
      // A bucket that the first write makes is empty.
      if (isRefusal(error, 'noMessage') || (this.#create && isRefusal(error, 'streamMissing'))) return undefined
      throw this.#failure(error, asked)
    }
  }

  /**
   * Writes a key if its last message has this revision; 0: if there is none. Resolves with the revision of the write, or with
   * `undefined` if nothing was written.
   */
  async put(
    key: string,
    value: string | Uint8Array,
    { expected, ...conditions }: WriteConditions,
    asked: Asked,
    call: StoreCall,
  ): Promise<number | undefined> {
    const headers = await this.#connection.headers()
    headers.set('Nats-Expected-Last-Subject-Sequence', String(expected))
    for (const [name, text] of Object.entries(conditions.headers ?? {})) headers.set(name, text)
    const publish = async (): Promise<number> => {
      const answer = await this.#send(this.#prefix + this.subjectOf(key), value, call, headers)
      return (contentOf(answer) as { seq: number }).seq
    }
    try {
      return await publish().catch(async (error: unknown) => {
        // Nobody takes messages of this subject: the bucket is missing, or it has no leader.
        if (!isUnheard(error)) throw error
        await this.#ensure(call)
        return await publish()
      })
    } catch (error) {
      if (isRefusal(error, 'wrongSequence', 'wrongSequenceUnknown')) return undefined
      throw this.#failure(error, asked)
    }
  }

  async info(asked: Asked, call: StoreCall): Promise<BucketInfo> {
    return await this.#info({}, asked, call)
  }

  /** All keys that have a message. */
  async keys(asked: Asked, call: StoreCall): Promise<ReadonlySet<string>> {
    const keys = new Set<string>()
    const filter = this.subjectOf('>')
    for (let offset = 0; ; ) {
      const { state, total = 0 } = await this.#info({ subjects_filter: filter, offset }, asked, call)
      const subjects = Object.keys(state.subjects ?? {})
      for (const subject of subjects) keys.add(subject.slice(filter.length - 1))
      offset += subjects.length
      if (subjects.length === 0 || offset >= total) return keys
    }
  }

  /** Yields the last message of a key, and each later one; `undefined` if there is none at the start. See `watchKey`. */
  async *watch(key: string, asked: Asked, call: StoreCall): AsyncGenerator<KeyValue | undefined> {
    try {
      const link = await this.#connection.link(call)
      const subject = this.subjectOf(key)
      const consumer = `leasehold-${randomUUID()}`
      const open = async (config: object): Promise<number> => {
        const body = { stream_name: this.#stream, config: { ...config, name: consumer, filter_subject: subject } }
        const made = await this.#ask('CONSUMER.CREATE', body, call, `.${consumer}.${subject}`)
        return (made as { num_pending: number }).num_pending
      }
      const inbox = `${link.client.options?.inboxPrefix ?? '_INBOX'}.${consumer}`
      for await (const delivered of watchKey(link, inbox, open, call)) {
        yield delivered && deliveredValue(delivered)
      }
    } catch (error) {
      if (!call.aborted) throw this.#failure(error, asked)
    }
  }

  async #info(page: object, asked: Asked, call: StoreCall): Promise<BucketInfo> {
    return (await this.#ask('STREAM.INFO', page, call).catch((error: unknown) => {
      throw this.#failure(error, asked)
    })) as BucketInfo
  }

  /** Makes the bucket if it is missing, also for a store that must not do so by itself. */
  async create(call: StoreCall): Promise<void> {
    await this.#ensure(call, true).catch((error: unknown) => {
      throw this.#failure(error, { operation: 'the creation of the bucket' })
    })
  }

  /** Makes the bucket if it is missing, and may be made. */
  async #ensure(call: StoreCall, create = this.#create): Promise<void> {
    try {
      await this.#ask('STREAM.INFO', {}, call)
    } catch (error) {
      if (!create || !isRefusal(error, 'streamMissing')) throw error
      await this.#make(3, call).catch((refusal: unknown) => {
        if (!isRefusal(refusal, 'noReplicas')) throw refusal
        return this.#make(1, call)
      })
    }
  }

  /** As `nats kv add` does. */
  async #make(replicas: number, call: StoreCall): Promise<void> {
    const config = {
      name: this.#stream,
      description: 'Leases of Leasehold',
      subjects: [this.subjectOf('>')],
      max_msgs_per_subject: 1,
      storage: 'file',
      discard: 'new',
      num_replicas: replicas,
      allow_rollup_hdrs: true,
      deny_delete: true,
      allow_direct: true,
    }
    await this.#ask('STREAM.CREATE', config, call).catch((error: unknown) => {
      // Another process was faster.
      if (!isRefusal(error, 'streamExists')) throw error
    })
  }

  #failure(error: unknown, asked: Asked): Error {
    return failureOf(asked, error, this.name)
  }

  async #ask(operation: string, body: object, call: StoreCall, rest = ''): Promise<unknown> {
    return contentOf(await this.#send(`${this.#api}.${operation}.${this.#stream}${rest}`, JSON.stringify(body), call))
  }

  async #send(
    subject: string,
    body: string | Uint8Array,
    call: StoreCall,
    headers?: NatsHeaders,
  ): Promise<NatsMessage> {
    const link = await this.#connection.link(call)
    const timeout = Math.max(1, Math.min(call.timeout, LONGEST))
    return await link.request(subject, body, { timeout, ...(headers && { headers }) }, call)
  }
}

/** The answer of JetStream. Throws an `ApiError` if it refused the request. */
function contentOf({ data }: NatsMessage): unknown {
  const content = parsedJSON(Buffer.from(data).toString()) as { readonly error?: ApiFault } | undefined
  if (content === undefined) throw new Error('the answer is no JSON')
  if (content.error !== undefined) throw new ApiError(content.error)
  return content
}

/** A message as `STREAM.MSG.GET` shows it. */
interface StoredMessage {
  readonly seq: number
  /** In base64, as `hdrs` with the lines of the protocol. */
  readonly data?: string
  readonly hdrs?: string
  readonly time: string
}

/** A header of this message; empty if there is none. */
type HeaderOf = KeyValue['header']

/** Whether a client or the server has written that the value is gone. */
function isMarker(header: HeaderOf): boolean {
  return /^(DEL|PURGE)$/.test(header('KV-Operation')) || header('Nats-Marker-Reason') !== ''
}

function deliveredValue({ message, revision, writtenAt }: Delivered): KeyValue {
  const header: HeaderOf = (name) => message.headers?.get(name) ?? ''
  return { revision, value: Buffer.from(message.data), isDeleted: isMarker(header), writtenAt, header }
}

function storedValue({ seq, data = '', hdrs = '', time }: StoredMessage): KeyValue {
  const lines = Buffer.from(hdrs, 'base64').toString().split('\r\n')
  const header: HeaderOf = (name) => {
    const line = lines.find((text) => text.startsWith(`${name}:`)) ?? ''
    return line.slice(name.length + 1).trim()
  }
  return {
    revision: seq,
    value: Buffer.from(data, 'base64'),
    isDeleted: isMarker(header),
    writtenAt: Date.parse(time),
    header,
  }
}
