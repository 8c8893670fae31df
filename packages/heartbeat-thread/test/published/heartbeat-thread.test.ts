import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { installPacked } from '@leasehold/testing'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../../..', import.meta.url))

const application = mkdtempSync(join(tmpdir(), 'leasehold-published-'))
const program = join(application, 'main.mjs')

afterAll(() => rmSync(application, { recursive: true }))

beforeAll(async () => {
  for (const name of ['core', 'heartbeat-thread', 'local', 'self-fence']) installPacked(application, name)
  // A dependency of the local store, which is not a part of its bundle.
  const native = 'fs-native-extensions'
  symlinkSync(join(root, 'node_modules', native), join(application, 'node_modules', native))
  const entry = fileURLToPath(new URL('programs/threaded.ts', import.meta.url))
  await build({ entryPoints: [entry], outfile: program, format: 'esm', platform: 'node' })
})

/** The lines that the program prints, and the signal that ended it. No file of the sources is within its reach. */
async function run(how: string) {
  const folder = mkdtempSync(join(application, 'leases-'))
  const options = { cwd: application, env: {}, timeout: 100_000 }
  const ended = await promisify(execFile)(process.execPath, [program, how, folder], options).catch((error) => error)
  const { stdout, stderr, signal = null } = ended as { stdout: string; stderr: string; signal?: string }
  return { lines: stdout.trim().split('\n'), errors: stderr, signal }
}

describe.concurrent('a heartbeat thread of the published packages', () => {
  it.for(['code', 'configuration'])('(%s) keeps a lease while the main thread is blocked', async (how) => {
    expect(await run(how)).toEqual({
      lines: ['granted: true', 'held: true, released: true'],
      errors: '',
      signal: null,
    })
  })

  it('ends a process with a selfFence that stays blocked', async () => {
    expect(await run('fence')).toEqual({ lines: ['granted: true'], errors: '', signal: 'SIGKILL' })
  })
})
