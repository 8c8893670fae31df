import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { build } from 'esbuild'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readRecording } from '../src/internal.js'

const program = fileURLToPath(new URL('programs/blocked.ts', import.meta.url))

/** The program in one file, as esbuild makes it for production. */
async function bundle(): Promise<string> {
  const outfile = join(temporaryFolder(), 'blocked.mjs')
  await build({
    ...{ entryPoints: [program], outfile, bundle: true, minify: true, keepNames: true },
    ...{ platform: 'node', format: 'esm', target: 'node20', conditions: ['@leasehold/source'] },
  })
  return outfile
}

interface Run {
  readonly child: ChildProcess
  readonly folder: string
  readonly output: () => string
  readonly ended: Promise<number | null>
}

function start(
  kind: string,
  flags: readonly string[] = ['--import', 'tsx', '--conditions', '@leasehold/source'],
  file = program,
): Run {
  const folder = temporaryFolder()
  const child = spawn(process.execPath, [...flags, file, folder, kind], { timeout: 60_000, killSignal: 'SIGKILL' })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += String(text)
    })
  }
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve))
  return { child, folder, output: () => output, ended }
}

function stallsIn(folder: string) {
  const files = readdirSync(folder).filter((file) => file.endsWith('.rec'))
  expect(files.length).toBeGreaterThan(0)
  const { machine } = readRecording(readFileSync(join(folder, files.at(-1) ?? ''), 'utf8'), 'a.rec')
  return machine.flatMap(({ event }) => (event.type === 'stall' ? [event] : []))
}

async function stallsOf(kind: string, ...how: [(readonly string[])?, string?]) {
  const run = start(kind, ...how)
  expect([await run.ended, run.output()]).toEqual([
    0,
    expect.stringMatching(/^ready\n(Debugger listening.*\nFor help.*\n)?done\n$/),
  ])
  return stallsIn(run.folder)
}

function namesIn({ stack = [] }: Awaited<ReturnType<typeof stallsOf>>[number]): readonly string[] {
  return stack.map((frame) => frame.function)
}

const found = (stalls: Awaited<ReturnType<typeof stallsOf>>) => stalls.filter(({ stack }) => stack !== undefined)
const reasons = (stalls: Awaited<ReturnType<typeof stallsOf>>) => stalls.flatMap(({ noStack }) => noStack?.code ?? [])

// One after the other: on a busy machine, a late look of the thread drops the evidence.
describe('the stack of code that blocks the event loop', () => {
  it('is recorded, with functions, files and lines', async () => {
    const stalls = found(await stallsOf('busy'))
    expect(stalls.length).toBe(1)
    const frame = stalls[0]?.stack?.find((one) => one.function === 'parse')
    expect(frame).toEqual({
      function: 'parse',
      file: expect.stringMatching(/programs\/blocked\.ts$/),
      ...{ line: expect.any(Number), column: expect.any(Number) },
    })
    expect(stalls[0]?.stack?.length).toBeLessThanOrEqual(10)
  })

  it('is recorded once for each stall', async () => {
    const stalls = found(await stallsOf('twice'))
    expect(stalls.map((stall) => namesIn(stall).includes('parse'))).toEqual([true, true])
  })

  it('is recorded of a main thread that waits for another thread', async () => {
    const [stall] = found(await stallsOf('atomics-wait'))
    expect(stall && namesIn(stall)).toContain('waitForOther')
  })

  it('has the innermost ten calls of a deep recursion', async () => {
    const [stall] = found(await stallsOf('deep'))
    expect(stall && namesIn(stall)).toHaveLength(10)
    expect(stall && namesIn(stall)).toContain('nested')
  })

  it('is recorded after the leases were released and another is acquired, by the same thread', async () => {
    const run = start('released')
    expect(await run.ended).toBe(0)
    expect(reasons(stallsIn(run.folder))).toEqual([])
  })

  it('is recorded by a program that was bundled into one file', async () => {
    const bundled = await bundle()
    const [stall] = found(await stallsOf('busy', [], bundled))
    expect(stall && namesIn(stall)).toContain('parse')
  })

  it('is not asked for unless the option is given', async () => {
    const stalls = await stallsOf('off')
    expect(stalls.length).toBeGreaterThan(0)
    expect([...found(stalls), ...reasons(stalls)]).toEqual([])
  })
})

describe('no stack is recorded', () => {
  it('while a process stands still', async () => {
    const run = start('stopped')
    await eventually('it holds the lease', async () => run.output().includes('ready'))
    for (let time = 0; time < 2; time += 1) {
      run.child.kill('SIGSTOP')
      await sleep(1_300)
      run.child.kill('SIGCONT')
      await sleep(400)
    }
    expect(await run.ended).toBe(0)
    const stalls = stallsIn(run.folder)
    expect(stalls.length).toBeGreaterThanOrEqual(2)
    expect([...found(stalls), ...reasons(stalls)]).toEqual([])
  })

  it('of a main thread that runs no JavaScript', async () => {
    const stalls = await stallsOf('exec-sync')
    expect(found(stalls)).toEqual([])
    expect(reasons(stalls)).toEqual(['native'])
    expect(stalls.find(({ noStack }) => noStack !== undefined)?.noStack?.message).toMatch(/ran no JavaScript.*execSync/)
  })

  it('of code that runs after a synchronous call', async () => {
    expect(found(await stallsOf('exec-sync-then-idle'))).toEqual([])
  })

  it.each(['healthy', 'short'])('of a process whose event loop turns: %s', async (kind) => {
    const stalls = await stallsOf(kind)
    expect([...found(stalls), ...reasons(stalls)]).toEqual([])
  })

  it('while the inspector is open: the recording says so', async () => {
    expect(reasons(await stallsOf('debugger'))).toEqual(['debugger'])
  })

  it('while another debugger has paused the main thread, and it is not resumed', async () => {
    const run = start('other-debugger')
    expect([await run.ended, run.output()]).toEqual([0, expect.stringMatching(/^ready\npaused for [5-9] s\ndone\n$/)])
    expect(found(stallsIn(run.folder))).toEqual([])
    expect(reasons(stallsIn(run.folder))).toEqual(['debugger'])
  })

  it('in another thread than the main one: the recording says so', async () => {
    const run = start('thread', [], await bundle())
    expect(await run.ended).toBe(0)
    expect(reasons(stallsIn(run.folder))).toContain('unavailable')
  })
})

describe('the thread that asks for stacks', () => {
  it('ends when no lease is held or asked for any more, and is started again for the next one', async () => {
    const run = start('ending')
    expect(await run.ended).toBe(0)
    expect(run.output().replace('ready\n', '')).toBe('started\nended\nstarted\ndone\n')
    const [stall] = found(stallsIn(run.folder))
    expect(stall && namesIn(stall)).toContain('parse')
  })

  it('does not keep the process alive, even before it has started', async () => {
    const run = start('exits')
    expect([await run.ended, run.output()]).toEqual([0, 'ready\ndone\n'])
  })

  it('changes neither the exit code nor the output of a process that exits at the end of a block', async () => {
    const run = start('exit')
    expect([await run.ended, run.output()]).toEqual([3, 'ready\n'])
  })
})
