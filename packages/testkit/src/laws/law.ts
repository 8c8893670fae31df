/** The subjects of laws. */
export type LawFamily =
  | 'exclusion'
  | 're-entrancy'
  | 'waiting'
  | 'expiry'
  | 'renewal'
  | 'loss'
  | 'release'
  | 'runs'
  | 'fencing'
  | 'change'
  | 'break'
  | 'infinite'
  | 'names'
  | 'metadata'
  | 'listing'
  | 'limits'
  | 'shutdown'
  | 'process death'
  | 'clocks'
  | 'rejection'
  | 'deletion'
  | 'races'
  | 'tokens'
  | 'errors'

/**
 * One rule that a store or a lease has to keep, independent of any test runner. `check` rejects where it is broken, with
 * an `AssertionError` that names the expected value.
 */
export interface Law<Trial, Ability extends string> {
  readonly family: LawFamily
  readonly name: string
  /** The abilities of a subject that the law needs. */
  readonly needs: readonly Ability[]
  readonly check: (trial: Trial) => Promise<void>
}

/** The outcome of a law that was not broken. */
export type LawOutcome = { readonly kept: true } | { readonly kept: false; readonly skipped: string }

/** A law without needs of its own. */
export function law<Trial>(family: LawFamily, name: string, check: (trial: Trial) => Promise<void>): Law<Trial, never> {
  return { family, name, needs: [], check }
}

/** A law for subjects that can do more. */
export function lawFor<Trial, Ability extends string>(
  needs: readonly Ability[],
  family: LawFamily,
  name: string,
  check: (trial: Trial) => Promise<void>,
): Law<Trial, Ability> {
  return { family, name, needs, check }
}
