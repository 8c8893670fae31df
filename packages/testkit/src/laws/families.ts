import type { Law, LawFamily, LawOutcome } from './law.js'

/** Who makes tests of laws: the adapters of test runners. */
export interface LawRunner {
  /** A group of tests, side by side or one after the other. */
  group(title: string, sideBySide: boolean, tests: () => void): void
  /** One test; `check` tells why it was skipped, if it was. */
  test(title: string, sideBySide: boolean, check: () => Promise<LawOutcome>): void
}

/** A test for each law over a subject, by family. Those of subjects in real time run side by side, for they wait. */
export function describeLaws<L extends Law<never, string>, S extends { name: string; time: 'virtual' | 'real' }>(
  runner: LawRunner,
  laws: readonly L[],
  subject: S,
  check: (law: L, subject: S) => Promise<LawOutcome>,
): void {
  const sideBySide = subject.time === 'real'
  const byFamily = new Map<LawFamily, L[]>()
  for (const law of laws) byFamily.set(law.family, [...(byFamily.get(law.family) ?? []), law])
  for (const [family, members] of byFamily) {
    runner.group(`${subject.name}: ${family}`, sideBySide, () => {
      for (const law of members) runner.test(law.name, sideBySide, () => check(law, subject))
    })
  }
}
