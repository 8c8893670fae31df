import type { LeaseChannels, LeaseTracingChannels, StoreMessage } from './messages.js'

type Diagnostics = typeof import('node:diagnostics_channel')

/** Absent where the engine runs in a page, or in a runtime without channels: then nobody can subscribe. */
const diagnostics: Diagnostics | undefined = globalThis.process?.getBuiltinModule?.('node:diagnostics_channel')

/** Publishes the messages of one channel. */
export class Publisher<Name extends keyof LeaseChannels> {
  readonly #channel: Pick<ReturnType<Diagnostics['channel']>, 'hasSubscribers' | 'publish'>

  constructor(name: Name) {
    this.#channel = diagnostics?.channel(name) ?? { hasSubscribers: false, publish: () => {} }
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
class Tracer<Name extends keyof LeaseTracingChannels> {
  readonly #channel: ReturnType<Diagnostics['tracingChannel']> | undefined

  constructor(name: Name) {
    this.#channel = diagnostics?.tracingChannel(name)
  }

  /** Whether anyone listens: ask before a context is made. */
  get isOn(): boolean {
    return this.#channel?.hasSubscribers === true
  }

  /** Does the work within the channel, which reports its start and its end. Settles as the work does. */
  async trace<T>(context: LeaseTracingChannels[Name], work: () => Promise<T>): Promise<T> {
    return this.#channel === undefined ? await work() : await this.#channel.tracePromise(work, context)
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
