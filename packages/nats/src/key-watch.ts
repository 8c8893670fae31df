import { systemClock } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import type { NatsClient, NatsMessage } from './client/nats-client.js'
import type { Link } from './link.js'

/** How often the server says that the consumer lives, in milliseconds. */
const IDLE_HEARTBEAT = 2_000

/** After this silence the consumer counts as dead, in milliseconds. */
const SILENCE = 5_000

/** After how many milliseconds without a subscription the server removes the consumer. */
const ABANDONED = 10_000

/** A message of the key. */
export interface Delivered {
  readonly message: NatsMessage
  readonly revision: number
  /** By the clock of the leader that took it, in milliseconds since 1970. */
  readonly writtenAt: number
}

/**
 * Yields the last message of a key, and then each later one; of several that came meanwhile, the last. Yields `undefined` if
 * there is none at the start. Ends when the call is aborted. Throws if messages may have been lost: a silent consumer, a
 * gap, a broken connection, or a consumer that the server has ended. `inbox`: where messages are delivered. `open` makes the
 * consumer, and resolves with how many messages it has for the start.
 */
export async function* watchKey(
  link: Link,
  inbox: string,
  open: (consumer: object) => Promise<number>,
  call: StoreCall,
): AsyncGenerator<Delivered | undefined> {
  const { client } = link
  let latest: { readonly delivered: Delivered | undefined } | undefined
  let failure: Error | undefined
  let seen = 0
  let wake = (): void => {}
  let cancel = (): void => {}
  const fail = (reason: string): void => {
    failure ??= new Error(`the watch has ended: ${reason}`)
    wake()
  }
  const listen = (): void => {
    cancel()
    cancel = systemClock.schedule(SILENCE, () => fail('the server is silent'))
  }
  const take = (message: NatsMessage): void => {
    listen()
    const place = placeOf(message)
    if (place === undefined) {
      const fault = answered(client, message, seen)
      if (fault !== undefined) fail(fault)
      return
    }
    if (place.count !== seen + 1) fail('messages were lost')
    seen = place.count
    latest = { delivered: { message, ...place } }
    wake()
  }
  const subscription = client.subscribe(inbox, {
    callback: (error, message: NatsMessage) => (error === null ? take(message) : fail(error.message)),
  })
  const removers = [call.onAbort(() => wake()), link.onBreak(() => fail('the connection broke'))]
  try {
    listen()
    if ((await open(consumerOf(inbox))) === 0) latest ??= { delivered: undefined }
    while (!call.aborted) {
      if (failure !== undefined) throw failure
      if (latest === undefined) await new Promise<void>((resolve) => (wake = resolve))
      else {
        const { delivered } = latest
        latest = undefined
        yield delivered
      }
    }
  } finally {
    cancel()
    for (const remove of removers) remove()
    if (!client.isClosed()) subscription.unsubscribe()
  }
}

function consumerOf(inbox: string): object {
  return {
    deliver_subject: inbox,
    deliver_policy: 'last_per_subject',
    ack_policy: 'none',
    flow_control: true,
    idle_heartbeat: IDLE_HEARTBEAT * 1e6,
    inactive_threshold: ABANDONED * 1e6,
    mem_storage: true,
    num_replicas: 1,
  }
}

/** Answers a message of the server about the consumer. Returns why the watch has to end, if it has. */
function answered(client: NatsClient, message: NatsMessage, seen: number): string | undefined {
  const { headers } = message
  if (headers?.code !== 100) return headers?.get('Description') || `status ${headers?.code}`
  // Flow control: the server waits for an answer before it sends more.
  const stalled = headers.get('Nats-Consumer-Stalled')
  if (stalled !== '') client.publish(stalled)
  if (message.reply !== undefined && message.reply !== '') message.respond()
  const last = headers.get('Nats-Last-Consumer')
  return last !== '' && Number(last) !== seen ? 'messages were lost' : undefined
}

/** `count`: of the messages of this consumer so far. */
type Place = Pick<Delivered, 'revision' | 'writtenAt'> & { readonly count: number }

/**
 * Where a message stands, by its reply subject: `$JS.ACK.<stream>.<consumer>.<deliveries>.<revision>.<count>.<time>.<pending>`,
 * with the domain and the account before the stream if there are more parts.
 */
function placeOf({ reply = '' }: NatsMessage): Place | undefined {
  const parts = reply.split('.')
  if (parts[1] !== 'ACK') return undefined
  const start = parts.length > 9 ? 4 : 2
  const [revision, count, written] = parts.slice(start + 3).map(Number)
  if (revision === undefined || count === undefined || written === undefined) return undefined
  return { revision, count, writtenAt: written / 1e6 }
}
