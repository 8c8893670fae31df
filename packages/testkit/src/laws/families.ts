import type { Law, LawFamily, LawOutcome } from './law.js'
import { ttlOf } from './store-trial.js'

/** How long a law in real time may take, in ttls: some let several pass. */
const LONGEST = 12

/** Who makes tests of laws: the adapters of test runners. */
export interface LawRunner {
  /** A group of tests, side by side or one after the other. */
  group(title: string, sideBySide: boolean, tests: () => void): void
  /** One test; `check` tells why it was skipped, if it was. In real time it says how long that may take, in milliseconds. */
  test(title: string, longest: number | undefined, check: () => Promise<LawOutcome>): void
}

/** What the tests have to know of a subject. */
interface LawSubject {
  readonly name: string
  readonly time: 'virtual' | 'real'
  readonly ttl?: number | undefined
}

/** A test for each law over a subject, by family. Those of subjects in real time run side by side, for they wait. */
export function describeLaws<L extends Law<never, string>, S extends LawSubject>(
  runner: LawRunner,
  laws: readonly L[],
  subject: S,
  check: (law: L, subject: S) => Promise<LawOutcome>,
): void {
  const sideBySide = subject.time === 'real'
  const longest = sideBySide ? Math.max(LONGEST * ttlOf(subject), 30_000) : undefined
  const byFamily = new Map<LawFamily, L[]>()
  for (const law of laws) byFamily.set(law.family, [...(byFamily.get(law.family) ?? []), law])
  for (const [family, members] of byFamily) {
    runner.group(`${subject.name}: ${family}`, sideBySide, () => {
      for (const law of members) runner.test(law.name, longest, () => check(law, subject))
    })
  }
}
