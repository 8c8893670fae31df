import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, type TestContext } from 'vitest'

/** Where to register callbacks for the end: tests that run side by side must pass their own context. */
export type Finishing = Pick<TestContext, 'onTestFinished'>

/** A folder of this test alone, removed at its end. */
export function temporaryFolder(test: Finishing = { onTestFinished }): string {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-local-'))
  test.onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
