import { hostname } from 'node:os'
import { LeaseUnavailableError } from '@leasehold/core'
import type { StoreCall } from '@leasehold/core/store'
import { failureOf } from './failure-of.js'
import { bodyOf } from './http/consul-answer.js'
import type { ConsulClient } from './http/consul-client.js'

/** The longest lock-delay that Consul keeps, in milliseconds. */
export const LONGEST_LOCK_DELAY = 60_000

export interface SessionOptions {
  /** In milliseconds; the ttl, at most {@link LONGEST_LOCK_DELAY}, unless given. */
  readonly lockDelay?: number | undefined
  readonly nodeChecks?: readonly string[] | undefined
}

/** The sessions of this process: one for each ttl. A session that has ended is replaced when it is needed. */
export class Sessions {
  readonly #client: ConsulClient
  readonly #options: SessionOptions
  readonly #byTtl = new Map<number, string>()
  readonly #creating = new Map<number, Promise<string>>()

  constructor(client: ConsulClient, options: SessionOptions) {
    this.#client = client
    this.#options = options
  }

  lockDelayOf(ttl: number): number {
    return this.#options.lockDelay ?? Math.min(ttl, LONGEST_LOCK_DELAY)
  }

  /** The session for this ttl. `isNew`: it was created during the call, so its time has just begun. */
  async current(ttl: number, call: StoreCall): Promise<{ readonly id: string; readonly isNew: boolean }> {
    const kept = this.#byTtl.get(ttl)
    if (kept !== undefined) return { id: kept, isNew: false }
    const shared = this.#creating.get(ttl)
    // The creation may fail by the time limit of another call.
    const id = await shared?.catch(() => undefined)
    return { id: id ?? (await this.#begin(ttl, call)), isNew: true }
  }

  /** Restarts the time of a session, of any process. Resolves `false` if it has ended. */
  async renew(session: string, call: StoreCall): Promise<boolean> {
    const answer = await this.#client.send({ method: 'PUT', path: `/session/renew/${session}` }, call)
    if (answer.status === 200) return true
    if (answer.status === 404 && answer.text.includes(session)) return false
    throw failureOf('the renewal of the session', undefined, answer)
  }

  /** Whether it is a session of this process. */
  has(session: string): boolean {
    return [...this.#byTtl.values()].includes(session)
  }

  /** Forgets a session that has ended: the next one is created when it is needed. */
  forget(session: string): void {
    for (const [ttl, kept] of this.#byTtl) if (kept === session) this.#byTtl.delete(ttl)
  }

  /** Ends the sessions of this process, but not those in use: their leases expire. */
  async end(inUse: ReadonlySet<string>, call: StoreCall): Promise<void> {
    const idle = [...this.#byTtl.values()].filter((id) => !inUse.has(id))
    this.#byTtl.clear()
    const ended = idle.map((id) => this.#client.send({ method: 'PUT', path: `/session/destroy/${id}` }, call))
    // A session that is not ended ends by its ttl.
    await Promise.allSettled(ended)
  }

  async #begin(ttl: number, call: StoreCall): Promise<string> {
    const creating = this.#create(ttl, call)
    this.#creating.set(ttl, creating)
    try {
      const id = await creating
      this.#byTtl.set(ttl, id)
      return id
    } finally {
      if (this.#creating.get(ttl) === creating) this.#creating.delete(ttl)
    }
  }

  async #create(ttl: number, call: StoreCall): Promise<string> {
    const body = JSON.stringify({
      Name: `leasehold ${hostname()} ${process.pid}`,
      TTL: `${Math.ceil(ttl)}ms`,
      LockDelay: `${Math.ceil(this.lockDelayOf(ttl))}ms`,
      // The keys stay: the tokens and the metadata are in them.
      Behavior: 'release',
      NodeChecks: this.#options.nodeChecks ?? [],
    })
    const answer = await this.#client.send({ method: 'PUT', path: '/session/create', body }, call)
    const { ID } = Object(bodyOf(answer)) as { ID?: unknown }
    if (answer.status === 200 && typeof ID === 'string') return ID
    if (answer.status === 200) {
      throw new LeaseUnavailableError('the Consul agent answered without a session', { store: 'consul', cause: answer })
    }
    throw failureOf('the creation of the session', undefined, answer)
  }
}
