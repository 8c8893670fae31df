import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'

const main = new URL('../src/main.ts', import.meta.url).pathname

/** The demo in a process of its own, interrupted after its first line. The workers share its stderr. */
async function interrupted(interrupt: (demo: ChildProcess) => void) {
  const folder = mkdtempSync(join(tmpdir(), 'leasehold-interruption-'))
  try {
    const options = ['--import', 'tsx', '--conditions', '@leasehold/source', main]
    const demo = spawn(process.execPath, options, {
      env: { ...process.env, TMPDIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const stderr = text(demo.stderr)
    await once(demo.stdout, 'data')
    interrupt(demo)
    demo.stdout.resume()
    const [code] = await once(demo, 'exit')
    // Ends only when all processes that share the pipe, the workers too, have ended.
    return { code, stderr: await stderr, left: readdirSync(folder).filter((file) => file.startsWith('leasehold')) }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe.concurrent('an interrupted demo', { timeout: 120_000 }, () => {
  it('ends quietly, with its workers and its folder, when its output is closed', async () => {
    expect(await interrupted((demo) => demo.stdout?.destroy())).toEqual({ code: 0, stderr: '', left: [] })
  })

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('ends quietly, with its workers and its folder, on %s', async (signal, code) => {
    expect(await interrupted((demo) => demo.kill(signal))).toEqual({ code, stderr: '', left: [] })
  })
})
