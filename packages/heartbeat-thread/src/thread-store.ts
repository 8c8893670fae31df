import { EventEmitter, on } from 'node:events'
import {
  LeaseConfigurationError,
  type LeaseSettings,
  type LeaseStore,
  LeaseUnavailableError,
  type StoreLimits,
} from '@leasehold/core'
import { type EngineMaker, makesEngine, portableTimeouts, rulesOf } from '@leasehold/core/internal'
import { AbortableCall, AbortListeners, type StoreCall, untilAborted } from '@leasehold/core/store'
import { RemoteEngine, type RemoteStore } from './remote-engine.js'
import type { ThreadLink } from './thread-link.js'
import { callPlaces, type LeaseSpec, type OpenedStore, type StoreMethod, type StoreSpec } from './thread-messages.js'

/** How long the thread renews for a user that shows no sign of life, in milliseconds, unless the settings say otherwise. */
const UNRESPONSIVE_AFTER = 60_000

type Method<M extends StoreMethod> = NonNullable<LeaseStore[M]>

/**
 * A store that is open in the heartbeat thread. The leases over it have their engines there; other operations are passed
 * on. It is opened again in the next thread, if its thread has ended.
 */
export class ThreadStore implements LeaseStore, RemoteStore {
  readonly kind?: string
  readonly limits: StoreLimits
  readonly id: number
  readonly group = { aborts: new AbortListeners() }
  declare readonly acquire: Method<'acquire'>
  declare readonly renew: Method<'renew'>
  declare readonly release: Method<'release'>
  declare readonly read: Method<'read'>
  declare readonly update?: Method<'update'>
  declare readonly change?: Method<'change'>
  declare readonly break?: Method<'break'>
  declare readonly withdraw?: Method<'withdraw'>
  declare readonly renewMany?: Method<'renewMany'>
  declare readonly list?: Method<'list'>
  declare readonly watch?: Method<'watch'>
  declare readonly watchGrant?: Method<'watchGrant'>
  readonly #thread: () => ThreadLink
  readonly #spec: StoreSpec
  readonly #closed = new AbortController()
  readonly #engines = new Set<RemoteEngine>()
  #openIn: ThreadLink
  #opening: Promise<ThreadLink> | undefined
  #closing: Promise<void> | undefined

  /** `thread` returns the thread that runs, or a new one. It throws where none can be started. */
  constructor(thread: () => ThreadLink, id: number, spec: StoreSpec, link: ThreadLink, opened: OpenedStore) {
    this.#thread = thread
    this.#spec = spec
    this.#openIn = link
    this.id = id
    this.limits = opened.limits
    if (opened.kind !== undefined) this.kind = opened.kind
    for (const method of opened.methods) {
      const isIterable = method === 'list' || method === 'watch' || method === 'watchGrant'
      const passOn = (...args: readonly unknown[]) =>
        isIterable ? this.#iterate(method, args) : this.#passOn(method, args)
      Object.assign(this, { [method]: passOn })
    }
  }

  get closed(): AbortSignal {
    return this.#closed.signal
  }

  get isClosed(): boolean {
    return this.#closed.signal.aborted
  }

  readonly [makesEngine]: EngineMaker = (settings, environment, onGrant) => {
    if (environment.userClock !== undefined) {
      throw new LeaseConfigurationError(
        'a heartbeat thread has the clock of the machine and its own random numbers: leave out clock and random',
        detailsOf(settings, this.kind),
      )
    }
    return new RemoteEngine(specOf(settings, this.kind), rulesOf(settings, this), this, environment, onGrant)
  }

  link(): ThreadLink | Promise<ThreadLink> {
    const link = this.#thread()
    if (this.#openIn === link) return link
    this.#opening ??= this.#open(link)
    return this.#opening
  }

  engage(engine: RemoteEngine, isEngaged: boolean): void {
    if (isEngaged) this.#engines.add(engine)
    else this.#engines.delete(engine)
  }

  /** The store was closed, by `close` or by itself. */
  onClosed(): void {
    if (this.isClosed) return
    this.#closed.abort()
    for (const engine of [...this.#engines]) engine.onStoreClosed()
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    this.onClosed()
    // A thread that has ended has closed it.
    if (!this.#openIn.isEnded) await this.#openIn.ask({ type: 'close', store: this.id }).answer
  }

  async #open(link: ThreadLink): Promise<ThreadLink> {
    try {
      await link.open(this.id, this.#spec)
      this.#openIn = link
      return link
    } finally {
      this.#opening = undefined
    }
  }

  /** Makes a call in the thread. `onItem` gets the values of an iterable. */
  async #passOn(method: StoreMethod, args: readonly unknown[], onItem?: (item: unknown) => void): Promise<unknown> {
    const { kind: store = 'custom' } = this
    if (this.isClosed) throw new LeaseUnavailableError(`the ${store} store is closed`, { store })
    const link = await this.link()
    const place = callPlaces[method]
    const call = (args[place] ?? new AbortableCall()) as StoreCall
    const given = args.map((arg, at) => (at === place ? undefined : arg))
    const request = { type: 'call', store: this.id, method, args: given, timeout: call.timeout } as const
    const { id, answer } = link.ask(request, onItem)
    const unlisten = call.onAbort(() => link.post({ type: 'abort', id }))
    return await untilAborted(answer, call).finally(unlisten)
  }

  async *#iterate(method: StoreMethod, args: readonly unknown[]): AsyncGenerator<unknown, void, undefined> {
    const place = callPlaces[method]
    const given = [...args]
    const outer = given[place] as StoreCall | undefined
    const call = new AbortableCall(outer?.timeout)
    given[place] = call
    const unlisten = outer?.onAbort(() => call.abort())
    const emitter = new EventEmitter()
    const items = on(emitter, 'item', { close: ['end'] })
    const end = (): unknown => emitter.emit('end')
    const ended = this.#passOn(method, given, (item) => emitter.emit('item', item))
    ended.then(end, end)
    try {
      for await (const [item] of items) {
        if (call.aborted) return
        yield item
      }
      if (!call.aborted) await ended
    } finally {
      unlisten?.()
      call.abort()
    }
  }
}

function specOf(settings: LeaseSettings, kind: string | undefined): LeaseSpec {
  const { name, owner, maxHold, childGrace, selfFence, unresponsiveAfter = UNRESPONSIVE_AFTER } = settings
  const timeouts = portableTimeouts(settings.timeouts)
  if (timeouts !== undefined) return { name, owner, timeouts, maxHold, childGrace, selfFence, unresponsiveAfter }
  throw new LeaseConfigurationError(
    `a strategy of your own cannot run in a heartbeat thread: name one of the strategies, or give { renewAt }`,
    detailsOf(settings, kind),
  )
}

function detailsOf({ name, owner }: LeaseSettings, kind: string | undefined) {
  return { leaseName: name, owner, store: kind ?? 'custom' }
}
