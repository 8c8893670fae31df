import { describe, type SuiteOptions } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** Why the test is skipped, and how to run it. The reporter of this repository lists it at the end of the run. */
    skippedFor?: string
  }
}

/** Tests that are skipped where something is missing on this machine: `whyNot` says it, and how to get it. */
export function describeUnless(
  whyNot: string | undefined,
  title: string,
  tests: () => void,
  options: SuiteOptions = {},
): void {
  if (whyNot === undefined) describe(title, options, tests)
  else describe.skip(title, { ...options, meta: { skippedFor: whyNot } }, tests)
}
