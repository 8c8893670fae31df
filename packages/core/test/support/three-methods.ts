import { type AcquireOptions, Lease, type LeaseLost, LeaseSettings } from '@leasehold/core'

/** A lease of one's own, with the three methods of the contract and nothing else. */
export class ThreeMethods extends Lease {
  /** What `acquire` answers while nothing is held. */
  answer: () => boolean | Promise<boolean> = () => true
  /** What `release` does before it has an effect. */
  beforeRelease: () => void | Promise<void> = () => {}
  readonly calls: string[] = []
  #isHeld = false
  #onLost: ((lost: LeaseLost) => void)[] = []

  constructor() {
    super(new LeaseSettings({ name: 'job', owner: 'me' }))
  }

  async acquire({ onLost, signal }: AcquireOptions = {}): Promise<boolean> {
    this.calls.push('acquire')
    signal?.throwIfAborted()
    if (!this.#isHeld && !(await this.answer())) return false
    this.#isHeld = true
    if (onLost !== undefined) this.#onLost.push(onLost)
    return true
  }

  async release(): Promise<boolean> {
    this.calls.push('release')
    await this.beforeRelease()
    this.#isHeld = false
    this.#onLost = []
    return true
  }

  checkLease(): boolean {
    return this.#isHeld
  }

  /** Returns the values of the callbacks. */
  lose(lost: LeaseLost): unknown[] {
    this.#isHeld = false
    return this.#onLost.splice(0).map((onLost): unknown => onLost(lost))
  }
}
