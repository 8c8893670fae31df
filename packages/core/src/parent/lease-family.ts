import type { EngineEnvironment, EngineParent } from '../engine/event-context.js'
import { rulesOf } from '../engine/lease-rules.js'
import { traitsOf } from '../engine/store-traits.js'
import type { LeaseSettings } from '../settings/lease-settings.js'
import type { Grant } from '../store/lease-record.js'
import type { LeaseStore } from '../store/lease-store.js'
import { type Child, type ParentGrant, ParentHere, type ParentLease, type ParentView } from './parent.js'
import { ParentLink } from './parent-link.js'

/** A lease over a store, as its family sees it. */
interface FamilyHost {
  readonly lease: {
    readonly settings: LeaseSettings
    readonly remaining: number
    checkLease(): boolean
    release(): Promise<unknown>
  }
  readonly store: LeaseStore
  /** The grant that was neither lost nor released yet, valid or not. */
  grant(): Pick<Grant, 'grantId'> | undefined
  /** Notices that the grant of the parent is over. */
  onParentLost(): void
}

/** The parent and the children of one lease. */
export class LeaseFamily extends ParentHere<HeldGrant> implements ParentView {
  readonly #host: FamilyHost
  readonly #link: ParentLink | undefined

  /** Throws a `LeaseConfigurationError` if `parent` is no lease, or stands under the same name itself. */
  constructor(host: FamilyHost, parent?: ParentLease, environment?: EngineEnvironment) {
    super()
    this.#host = host
    if (parent === undefined || environment === undefined) return
    const { store, lease } = host
    const { settings } = lease
    const { clock, random } = environment
    const seat = { settings, rules: rulesOf(settings, traitsOf(store)), clock, random }
    this.#link = new ParentLink(parent, store, seat, asChild(host))
  }

  get name(): string {
    return this.#host.lease.settings.name
  }

  /** For how long the parent is valid, in milliseconds: 0 if it is not, `Infinity` without a parent. */
  get cover(): number {
    return this.#link === undefined ? Number.POSITIVE_INFINITY : this.#link.remaining
  }

  /** The environment of the lease's engine, with the parent. */
  around(environment: EngineEnvironment): EngineEnvironment {
    const parent: EngineParent | undefined = this.#link
    return { ...environment, parent }
  }

  /** The outcome of a claim that has to wait for a look at the parent, or is refused; `undefined` if it can go on. */
  enter(claim: () => Promise<boolean>, signal: AbortSignal | undefined): Promise<boolean> | undefined {
    return this.#link?.enter(claim, signal)
  }

  /** Ends the claims that wait for a look at the parent. */
  abandon(): void {
    this.#link?.abandon()
  }

  includes(store: object, name: string): boolean {
    return (this.#host.store === store && this.name === name) || this.#link?.parent.includes(store, name) === true
  }

  current(): ParentGrant | undefined {
    const grant = this.#host.grant()
    if (grant === undefined || !this.#host.lease.checkLease()) return undefined
    if (this.grant?.isOf(grant) !== true) this.grant = new HeldGrant(this.#host, grant)
    return this.grant
  }
}

function asChild(host: FamilyHost): Child {
  return {
    onParentLost: () => host.onParentLost(),
    onParentLeaving: () => {
      // An attempt is rejected; a grant is released.
      if (host.grant() === undefined) host.onParentLost()
      return host.lease.release()
    },
  }
}

/** A grant of a lease over a store. */
class HeldGrant implements ParentGrant {
  isEnded = false
  readonly #host: FamilyHost
  readonly #grantId: string

  constructor(host: FamilyHost, grant: Pick<Grant, 'grantId'>) {
    this.#host = host
    this.#grantId = grant.grantId
  }

  isOf(grant: Pick<Grant, 'grantId'> | undefined): boolean {
    return this.#grantId === grant?.grantId && !this.isEnded
  }

  get isValid(): boolean {
    return this.remaining > 0
  }

  /** One pass up the chain of parents is enough: `remaining` of a lease takes its own parent into account. */
  get remaining(): number {
    return this.isOf(this.#host.grant()) ? this.#host.lease.remaining : 0
  }
}
