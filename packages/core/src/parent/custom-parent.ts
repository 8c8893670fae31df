import { observeLoss, observeReleases, type PlainLease } from '../lease/observed-lease.js'
import { readGuarded } from '../user-code/guarded-calls.js'
import { defaultLogger, logSafely } from '../user-code/logger.js'
import { asParent, type ParentGrant, ParentHere, type ParentView } from './parent.js'

/** A parent that has `acquire`, `release` and `checkLease` only. A release of it releases its children first. */
export class CustomParent extends ParentHere<CustomGrant> implements ParentView {
  readonly #lease: PlainLease

  private constructor(lease: PlainLease) {
    super()
    this.#lease = lease
  }

  /** The one view that all children of the lease share. */
  static of(lease: PlainLease & { [asParent]?: () => CustomParent }): CustomParent {
    const parent = new CustomParent(lease)
    // The lease of a user may be frozen. Its children then notice a release by checkLease().
    if (Object.isExtensible(lease)) Object.defineProperty(lease, asParent, { value: () => parent })
    observeReleases(lease, async (release) => {
      const childrenReleased = parent.releaseChildren()
      if (parent.hasChildren) await childrenReleased
      return await release()
    })
    return parent
  }

  get name(): string {
    return this.#lease.settings?.name ?? 'parent'
  }

  includes(): boolean {
    return false
  }

  current(): ParentGrant | undefined {
    if (this.grant?.isValid === true) return this.grant
    if (this.grant !== undefined) this.lose()
    const grant = new CustomGrant(this.#lease)
    if (!grant.isValid) return undefined
    this.grant = grant
    const lose = (): void => {
      if (this.grant === grant) this.lose()
    }
    observeLoss(this.#lease, lose, report)
    return grant
  }
}

/** A grant of a lease that does not identify its grants, except by their fencing tokens where it has them. */
class CustomGrant implements ParentGrant {
  isEnded = false
  readonly #lease: PlainLease
  readonly #fencingToken: unknown

  constructor(lease: PlainLease) {
    this.#lease = lease
    this.#fencingToken = this.#read('fencingToken')
  }

  /** A lease that fails is not valid. A grant that was seen to be over does not come back. */
  get isValid(): boolean {
    if (this.isEnded) return false
    const isValid = readGuarded(() => this.#lease.checkLease(), report) === true
    this.isEnded = !isValid || this.#read('fencingToken') !== this.#fencingToken
    return !this.isEnded
  }

  get remaining(): number {
    if (!this.isValid) return 0
    const remaining = this.#read('remaining')
    return typeof remaining === 'number' && remaining >= 0 ? remaining : Number.POSITIVE_INFINITY
  }

  #read(property: 'fencingToken' | 'remaining'): unknown {
    return readGuarded(() => this.#lease[property], report)
  }
}

function report(error: unknown): void {
  logSafely(defaultLogger, 'error', 'the parent of a lease failed', error)
}
