import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, type Finishing, temporaryFolder } from '@leasehold/testing'
import { describe, expect, it } from 'vitest'

const tsx = import.meta.resolve('tsx')
const options = ['--import', tsx, '--conditions', '@leasehold/source']

/** Runs a program of a page in two processes at the same time, and returns what they print, without their numbers. */
async function printedByTwo(test: Finishing, program: string, until?: { readonly lines: number }): Promise<string[]> {
  const folder = temporaryFolder(test)
  const file = fileURLToPath(new URL(`../../${program}`, import.meta.url))
  // One file for both keeps the order.
  const output = openSync(join(folder, 'output'), 'a')
  const children = [1, 2].map(() =>
    spawn(process.execPath, [...options, file], { cwd: folder, stdio: ['ignore', output, output], timeout: 60_000 }),
  )
  test.onTestFinished(() => void children.map((child) => child.kill('SIGKILL')))
  const lines = () => readFileSync(join(folder, 'output'), 'utf8').trimEnd().split('\n')
  const ends = Promise.all(children.map((child) => once(child, 'exit')))
  if (until === undefined) {
    expect(await ends).toEqual([
      [0, null],
      [0, null],
    ])
  } else {
    await eventually(`${until.lines} lines of ${program}`, async () => lines().length >= until.lines)
    for (const child of children) child.kill('SIGINT')
    await ends
  }
  return lines().map((line) => line.replace(/^process \d+:? /, '').replace(/, token \d+$/, ''))
}

describe('the programs of the pages, in two processes', { timeout: 90_000 }, () => {
  it('one at a time', async (test) => {
    const turn = ['reads the mailbox', 'has read the mailbox']
    expect(await printedByTwo(test, 'getting-started/src/mailbox.ts')).toEqual([...turn, ...turn])
  })

  it('once', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/report-once.ts')
    expect(lines).toEqual(['writes the report', 'the report is in report.pdf', 'the report is in report.pdf'])
  })

  it('a value that one loads for both', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/rates.ts')
    expect(lines).toEqual(['loads the rates', 'a euro is 1.08 dollars', 'a euro is 1.08 dollars'])
  })

  it('three at a time', async (test) => {
    const files = ['a', 'b', 'c', 'd'].flatMap((name) => [`loads ${name}.zip`, `loads ${name}.zip`])
    expect((await printedByTwo(test, 'getting-started/src/at-most-three.ts')).sort()).toEqual(files)
  })

  it('CommonJS', async (test) => {
    expect(await printedByTwo(test, 'getting-started/src/required.cjs')).toEqual(['works', 'works'])
  })

  it('a leader and its child', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/only-the-leader.ts')
    expect(lines).toEqual(['imports, as the leader', 'imports, as the leader'])
  })

  it('a writer alone', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/price-list.ts')
    expect(lines.sort()).toEqual(['reads the prices', 'reads the prices', 'writes the prices', 'writes the prices'])
  })

  it('two names at once', async (test) => {
    const both = ['changes account/anna', 'changes account/berta']
    expect(await printedByTwo(test, 'getting-started/src/two-accounts.ts')).toEqual([...both, ...both])
  })

  it('a list of jobs', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/invoices.ts')
    expect(lines.sort()).toEqual(['sends anna', 'sends berta', 'sends carla', 'sends doris'])
  })

  it('a position for the next holder', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/import-lines.ts')
    expect(lines).toEqual([0, 1, 2, 3, 4, 5].map((line) => `imports line ${line}`))
  })

  it('settings from an object', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/settings-object.ts')
    expect(lines).toEqual(['writes the report', 'writes the report'])
  })

  it('navigator.locks', async (test) => {
    const lines = await printedByTwo(test, 'web-locks/src/two-terminals.ts')
    expect(lines.sort()).toEqual(['imports', 'imports', 'reads', 'reads'])
  })

  it('each partition in one process at a time', async (test) => {
    const lines = await printedByTwo(test, 'getting-started/src/partitions.ts', { lines: 4 })
    expect([...new Set(lines)].sort()).toEqual([0, 1, 2, 3].map((partition) => `reads partition ${partition}`))
  })

  for (const example of ['getting-started', 'node-cron']) {
    it(`each tick once: ${example}`, async (test) => {
      const lines = await printedByTwo(test, `${example}/src/every-ten-seconds.ts`, { lines: 2 })
      expect(new Set(lines).size).toBe(lines.length)
      for (const line of lines) expect(line).toMatch(/^works for 2\d\d\d-.+0\.000Z$/)
    })
  }
})
