import { channel, tracingChannel } from 'node:diagnostics_channel'
import type { LeaseChannels, LeaseTracingChannels, StoreMessage } from './messages.js'

/** Publishes the messages of one channel. */
export class Publisher<Name extends keyof LeaseChannels> {
  readonly #channel: ReturnType<typeof channel>

  constructor(name: Name) {
    this.#channel = channel(name)
  }

  /** Whether anyone listens: ask before a message is made. */
  get isOn(): boolean {
    return this.#channel.hasSubscribers
  }

  /** An error of a subscriber is not thrown here: Node makes it an uncaught exception. */
  publish(message: LeaseChannels[Name]): void {
    this.#channel.publish(message)
  }
}

/** Traces the operations of one tracing channel. */
export class Tracer<Name extends keyof LeaseTracingChannels> {
  readonly #channel: ReturnType<typeof tracingChannel>

  constructor(name: Name) {
    this.#channel = tracingChannel(name)
  }

  /** Whether anyone listens: ask before a context is made. */
  get isOn(): boolean {
    return this.#channel.hasSubscribers
  }

  /** Does the work within the channel, which reports its start and its end. Settles as the work does. */
  async trace<T>(context: LeaseTracingChannels[Name], work: () => Promise<T>): Promise<T> {
    return await this.#channel.tracePromise(work, context)
  }
}

/** The channels of core. Those of the recipes are theirs. */
export const publishers = {
  acquired: new Publisher('leasehold:acquired'),
  renewed: new Publisher('leasehold:renewed'),
  jeopardy: new Publisher('leasehold:jeopardy'),
  recovered: new Publisher('leasehold:recovered'),
  lost: new Publisher('leasehold:lost'),
  released: new Publisher('leasehold:released'),
  waiting: new Publisher('leasehold:waiting'),
  guardRejected: new Publisher('leasehold:guard-rejected'),
  stall: new Publisher('leasehold:stall'),
} as const

export const tracers = {
  acquire: new Tracer('leasehold:acquire'),
  run: new Tracer('leasehold:run'),
  store: new Tracer('leasehold:store'),
} as const

/** Makes a call of a store within its tracing channel. */
export async function publishCall(context: StoreMessage, call: () => Promise<unknown>): Promise<unknown> {
  return await tracers.store.trace(context, async () => {
    try {
      const answer = await call()
      context.outcome = (answer as { granted?: unknown } | undefined)?.granted === false ? 'refused' : 'done'
      return answer
    } catch (error) {
      context.outcome = 'failed'
      throw error
    }
  })
}
