/** The lease as its work gets it. Each recipe adds to it what its own work needs. */
export interface Held {
  /** Aborted when the work has to end. */
  readonly signal: AbortSignal
  /** The number that the guarded resource compares; `undefined` where the backend has none. */
  readonly fencingToken: bigint | undefined
  /**
   * When the validity ends unless a heartbeat renews it, in milliseconds on the lease's clock; 0 once the grant has ended, and
   * `undefined` where the backend does not say.
   */
  readonly validUntil: number | undefined
  /** Whether this grant is valid now: compares clocks, without I/O. */
  checkLease(): boolean
}

/** The `Held` of a lease over a store, whose grants all have a fencing token and an end. */
export interface StoreHeld extends Held {
  readonly fencingToken: bigint
  readonly validUntil: number
}

/** The work of `run` of a lease over a store. It starts once the lease is held. */
export type LeasedWork<T> = (held: StoreHeld) => Promise<T>

/** The `Held` for the work of a grant, the present one unless given. It never shows a later grant of the lease. */
export function heldOf(
  lease: Held & { readonly validUntil: number },
  grant: Pick<StoreHeld, 'signal' | 'fencingToken'>,
): StoreHeld
export function heldOf(lease: Held, grant?: Pick<Held, 'signal' | 'fencingToken'>): Held
export function heldOf(lease: Held, { signal, fencingToken }: Pick<Held, 'signal' | 'fencingToken'> = lease): Held {
  const isPresent = (): boolean => !signal.aborted && lease.fencingToken === fencingToken
  return {
    signal,
    fencingToken,
    get validUntil() {
      const { validUntil } = lease
      return isPresent() || validUntil === undefined ? validUntil : 0
    },
    checkLease: () => isPresent() && lease.checkLease(),
  }
}

/** A `Held` with the members that a recipe adds to it, or replaces in it. */
export function extendHeld<H extends Held, M extends object>(held: H, more: M): Omit<H, keyof M> & M {
  // The getters stay getters: the validity moves with each heartbeat.
  return Object.create(Object.prototype, {
    ...Object.getOwnPropertyDescriptors(held),
    ...Object.getOwnPropertyDescriptors(more),
  })
}
