import type { LeaseLost, LeaseLostReason, LeaseStore } from '@leasehold/core'
import { CallsUnderWay } from './calls-under-way.js'
import type { CommandEnd } from './command-end.js'
import { CommandRun, type CommandSurroundings } from './command-run.js'
import { GrantValidity } from './grant-validity.js'
import { type ClaimListener, observeStore } from './observed-store.js'

/** Runs the command under grants of one store, one after the other. */
export class LeasedCommand {
  /** The store that the leases have to use. */
  readonly store: LeaseStore
  readonly #lease: { readonly name: string; readonly owner: string }
  readonly #around: CommandSurroundings
  readonly #validity: GrantValidity
  readonly #calls: CallsUnderWay
  #run: CommandRun | undefined
  /** The reason for which the grant was lost before its command has begun. */
  #lost: LeaseLostReason | undefined

  constructor(
    store: LeaseStore,
    lease: { readonly name: string; readonly owner: string; readonly maxHold?: number | undefined },
    listener: ClaimListener,
    around: CommandSurroundings,
  ) {
    this.#validity = new GrantValidity(lease.maxHold)
    this.#calls = new CallsUnderWay(around.clock)
    this.store = observeStore(store, around.clock, this.#validity, listener, this.#calls)
    this.#lease = lease
    this.#around = around
  }

  /**
   * Resolves when nothing of the leases is under way in the store. A signal ends a claim at once: the store may grant it
   * later, and the grant then has to be given back. `limit`: in milliseconds, for a store that does not answer.
   */
  async settled(limit: number): Promise<void> {
    await this.#calls.ended(limit)
  }

  /** Before a claim: losses from now on are those of its grant. */
  begin(): void {
    this.#lost = undefined
  }

  /** The grant was lost. */
  readonly lose = ({ reason }: Pick<LeaseLost, 'reason'>): void => {
    this.#lost = reason
    if (this.#run === undefined) this.#validity.forget()
    else this.#run.lose(reason)
  }

  /**
   * Resolves when nothing of the command is alive. Never starts it under a grant that was lost. `variables`: of the way in
   * which the lease was acquired. Rejects as `CommandRun.run` does.
   */
  async run(fencingToken: bigint | undefined, variables: Readonly<Record<string, string>>): Promise<CommandEnd> {
    if (this.#lost !== undefined) return { type: 'lost', reason: this.#lost }
    const run = new CommandRun(this.#validity, this.#around)
    this.#run = run
    try {
      return await run.run({
        LEASEHOLD_NAME: this.#lease.name,
        LEASEHOLD_OWNER: this.#lease.owner,
        LEASEHOLD_FENCING_TOKEN: fencingToken === undefined ? '' : String(fencingToken),
        LEASEHOLD_VALID_UNTIL: this.#validUntil(),
        ...variables,
      })
    } finally {
      this.#run = undefined
      if (this.#lost !== undefined) this.#validity.forget()
    }
  }

  /** By the wall clock, for people: it can be set, and the lease is usually renewed before. */
  #validUntil(): string {
    const { clock } = this.#around
    const left = this.#validity.until - clock.now()
    const wall = clock.wall?.()
    return wall === undefined || !Number.isFinite(left) ? 'never' : new Date(wall + left).toISOString()
  }
}
