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
  | 'parents'
  | 'infinite'
  | 'names'
  | 'metadata'
  | 'raising tokens'
  | 'listing'
  | 'history'
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

/** Returns a function that makes laws of one family, by their names. `given`: what each check gets after its trial. */
export function lawsWith<Trial, Ability extends string, Given extends readonly unknown[]>(
  given: (trial: Trial) => Promise<Given>,
) {
  return (
    family: LawFamily,
    needs: readonly Ability[],
    checks: Readonly<Record<string, (trial: Trial, ...given: Given) => Promise<void>>>,
  ): readonly Law<Trial, Ability>[] =>
    Object.entries(checks).map(([name, check]) => ({
      family,
      name,
      needs,
      check: async (trial) => check(trial, ...(await given(trial))),
    }))
}

/** The surroundings of one law, made for it. */
interface Trial<Ability> {
  /** Why the subject cannot run a law with these needs. */
  lacks(needs: readonly Ability[]): Promise<string | undefined>
  end(): Promise<void>
}

/** Checks one law in a trial of its own. Rejects where it is broken. */
export async function checkIn<T extends Trial<Ability>, Ability extends string>(
  trial: T,
  { needs, check }: Pick<Law<T, Ability>, 'needs' | 'check'>,
): Promise<LawOutcome> {
  try {
    const skipped = await trial.lacks(needs)
    if (skipped !== undefined) return { kept: false, skipped }
    await check(trial)
    return { kept: true }
  } finally {
    await trial.end()
  }
}
