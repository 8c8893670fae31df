import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { eventually } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'
import {
  processesOfPs,
  readProcesses,
  runIdsWith,
  runIdVariable,
  startOfThisProcess,
} from '../src/run/process-table.js'

const isLinux = process.platform === 'linux'

function startMarked(runIds: string): number {
  const child = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, [runIdVariable]: runIds } })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child.pid ?? 0
}

it('finds the processes of a run by their environment, also those of a run inside it', async () => {
  const outer = randomUUID()
  const inner = randomUUID()
  const pid = startMarked(runIdsWith(inner, outer))
  const since = startOfThisProcess()
  const marked = (runId: string) => readProcesses({ runId, since }).filter(({ isMarked }) => isMarked)
  await eventually('it is found', async () => marked(outer).length === 1)
  for (const runId of [outer, inner]) {
    expect(marked(runId)).toEqual([expect.objectContaining({ pid, parent: process.pid })])
  }
  expect(marked(randomUUID())).toEqual([])
})

it.skipIf(!isLinux)('finds the same with the program ps, as on macOS', async () => {
  const runId = randomUUID()
  const pid = startMarked(runId)
  await eventually('it is found', async () => processesOfPs(runId, 'e').some((entry) => entry.isMarked))
  const found = processesOfPs(runId, 'e')
  expect(found.filter(({ isMarked }) => isMarked).map((entry) => entry.pid)).toEqual([pid])
  expect(found.find((entry) => entry.pid === process.pid)).toMatchObject({ parent: process.ppid, isMarked: false })
})

it.skipIf(!isLinux)('does not count a process that has ended and whose exit status nobody has read', async () => {
  // It ends when its parent has become a program that reads no exit status.
  const child = 'until grep -q sleep /proc/$$/comm; do :; done'
  const parent = spawn('sh', ['-c', `(${child}) & echo $!; exec sleep 60`], { stdio: ['ignore', 'pipe', 'inherit'] })
  onTestFinished(() => void parent.kill('SIGKILL'))
  const pid = Number(await new Promise((resolve) => parent.stdout.once('data', resolve)))
  const alive = () => readProcesses({ runId: 'none', since: '' }).some((entry) => entry.pid === pid)
  await eventually('it has ended', async () => !alive())
  expect(() => process.kill(pid, 0)).not.toThrow()
})
