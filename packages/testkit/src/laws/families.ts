import { checkGuardLaw, guardLaws } from './guard-laws.js'
import type { GuardSubject } from './guard-subject.js'
import type { GuardLaw } from './guard-trial.js'
import type { Law, LawFamily, LawOutcome } from './law.js'
import { checkLeaseLaw, leaseLaws } from './lease-laws.js'
import type { LeaseSubject } from './lease-subject.js'
import type { LeaseLaw } from './lease-trial.js'
import { checkStoreLaw, storeLaws } from './store-laws.js'
import type { StoreSubject } from './store-subject.js'
import { type StoreLaw, ttlOf } from './store-trial.js'

/** How long a law in real time may take, in ttls: some let several pass. */
const LONGEST = 12

/** An adapter of a test runner: makes tests of laws. */
export interface LawRunner {
  /** A group of tests, side by side or one after the other. */
  group(title: string, sideBySide: boolean, tests: () => void): void
  /** One test. `check` calls `skip` with the reason if it was skipped. In real time, it has a limit in milliseconds. */
  test(title: string, limit: { timeout?: number }, check: (skip: (reason: string) => void) => Promise<void>): void
}

/** The limit of a test of one law. In virtual time it needs none. */
export function limitOf(subject: Pick<StoreSubject, 'time' | 'ttl'>): { timeout?: number } {
  return subject.time === 'real' ? { timeout: Math.max(LONGEST * ttlOf(subject), 30_000) } : {}
}

/** A test for each law of a subject, by family. Tests in real time run concurrently, because they wait. */
function describeLaws<L extends Law<never, string>, S extends Pick<StoreSubject, 'name' | 'time' | 'ttl'>>(
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
      for (const law of members) {
        runner.test(law.name, limitOf(subject), async (skip) => {
          const outcome = await check(law, subject)
          if (!outcome.kept) skip(outcome.skipped)
        })
      }
    })
  }
}

/** The functions that make tests of laws, over a test runner. */
export function describersFor(runner: LawRunner) {
  return {
    stores(subject: StoreSubject, laws: readonly StoreLaw[] = storeLaws): void {
      describeLaws(runner, laws, subject, checkStoreLaw)
    },
    leases(subject: LeaseSubject, laws: readonly LeaseLaw[] = leaseLaws): void {
      describeLaws(runner, laws, subject, checkLeaseLaw)
    },
    guards(subject: GuardSubject, laws: readonly GuardLaw[] = guardLaws): void {
      describeLaws(runner, laws, { name: subject.name, time: 'real' }, (law) => checkGuardLaw(law, subject))
    },
  }
}
