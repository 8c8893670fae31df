import { AbortListeners } from '../abort-listeners.js'
import { type EngineMaker, makesEngine } from '../engine/engine.js'
import { rulesOf } from '../engine/lease-rules.js'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'
import { LeaseUnavailableError } from '../errors/lease-unavailable-error.js'
import type { LeaseSettings } from '../lease-settings.js'
import type { LeaseStore, StoreLimits } from '../store/lease-store.js'
import type { StoreCall } from '../store/store-call.js'
import { portableTimeouts } from '../timeout-settings.js'
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
  readonly acquire = this.#passOn('acquire') as Method<'acquire'>
  readonly renew = this.#passOn('renew') as Method<'renew'>
  readonly release = this.#passOn('release') as Method<'release'>
  readonly read = this.#passOn('read') as Method<'read'>
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
      if (method in this) continue
      const isIterable = method === 'list' || method === 'watch' || method === 'watchGrant'
      Object.assign(this, { [method]: isIterable ? this.#iterate(method) : this.#passOn(method) })
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
      await link.ask({ type: 'open', store: this.id, spec: this.#spec }).answer
      this.#openIn = link
      return link
    } finally {
      this.#opening = undefined
    }
  }

  #passOn(method: StoreMethod) {
    return async (...args: readonly unknown[]): Promise<unknown> => {
      const place = callPlaces[method]
      const call = args[place] as StoreCall | undefined
      const link = await this.#openLink()
      const { id, answer } = link.ask(this.#request(method, args))
      return await new Promise((resolve, reject) => {
        const unlisten = call?.onAbort(() => {
          link.post({ type: 'abort', id })
          reject(call.signal.reason)
        })
        answer.then(resolve, reject).finally(() => unlisten?.())
      })
    }
  }

  #iterate(method: 'list' | 'watch' | 'watchGrant') {
    const open = (): Promise<ThreadLink> => this.#openLink()
    const request = (args: readonly unknown[]) => this.#request(method, args)
    return async function* (...args: readonly unknown[]): AsyncGenerator<unknown, void, undefined> {
      const call = args[callPlaces[method]] as StoreCall | undefined
      const link = await open()
      const items: unknown[] = []
      let isEnded = false
      let failure: unknown
      let wake = (): void => {}
      const end = (error?: unknown): void => {
        isEnded = true
        failure = error
        wake()
      }
      const { id, answer } = link.ask(request(args), (item) => {
        items.push(item)
        wake()
      })
      answer.then(() => end(), end)
      const stop = (): void => link.post({ type: 'abort', id })
      const unlisten = call?.onAbort(() => {
        stop()
        end()
      })
      try {
        for (;;) {
          while (items.length > 0 && call?.aborted !== true) yield items.shift()
          if (failure !== undefined) throw failure
          if (isEnded) return
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      } finally {
        unlisten?.()
        if (!isEnded) stop()
      }
    }
  }

  #request(method: StoreMethod, args: readonly unknown[]) {
    const place = callPlaces[method]
    const { timeout = Number.POSITIVE_INFINITY } = (args[place] ?? {}) as Partial<StoreCall>
    const given = args.map((arg, at) => (at === place ? undefined : arg))
    return { type: 'call', store: this.id, method, args: given, timeout } as const
  }

  async #openLink(): Promise<ThreadLink> {
    const { kind: store = 'custom' } = this
    if (this.isClosed) throw new LeaseUnavailableError(`the ${store} store is closed`, { store })
    return await this.link()
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
