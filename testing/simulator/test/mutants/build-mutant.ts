import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { bundleWithEdits } from '@leasehold/testing/bundle-with-edits'
import type { Catch, Mutant } from './mutant.js'

const coreSources = fileURLToPath(new URL('../../../../packages/core/src/', import.meta.url))
const hunter = fileURLToPath(new URL('hunt.ts', import.meta.url))

/** Bundles the hunt with the engine and the stores, the bug among them, into one file. */
export async function buildMutant({ edits }: Pick<Mutant, 'edits'>, outfile: string): Promise<void> {
  await bundleWithEdits({ entry: hunter, sources: coreSources, edits }, outfile)
}

/**
 * Runs a bundle, and resolves with the laws or checks that caught the bug: by the `laws`, by the `simulator`, by the simulator with one
 * kind of faults, or by one plan of the simulator, as JSON. `law`: the law that is expected to catch it; if it does, no other is checked. For
 * the simulator: its start, such as `guided:1000` or `plain:1000`, with the first seed; `plain:1` unless given.
 */
export async function hunt(bundle: string, how: string, law?: string): Promise<Catch> {
  const args = law === undefined ? [how] : [how, law]
  const { stdout } = await promisify(execFile)(process.execPath, [bundle, ...args])
  return JSON.parse(stdout)
}
