import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'

const leader = fileURLToPath(new URL('../src/leader.ts', import.meta.url))
const tsx = import.meta.resolve('tsx')

/** The program of the page in a process of its own, as in one of the two terminals. */
function terminal(folder: string) {
  const options = ['--import', tsx, '--conditions', '@leasehold/source', leader]
  const child = spawn(process.execPath, options, { cwd: folder, timeout: 60_000 })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  return {
    child,
    shows: (text: string) => eventually(`'${text}' in: ${output}`, async () => output.includes(`${child.pid} ${text}`)),
    output: () => output,
  }
}

it('one of two terminals leads; after a kill, and after Ctrl-C, another one does', { timeout: 90_000 }, async () => {
  const folder = temporaryFolder()
  const first = terminal(folder)
  await first.shows('leads')
  const second = terminal(folder)
  await second.shows('waits for its turn')
  expect(second.output()).not.toContain('leads')
  first.child.kill('SIGKILL')
  await second.shows('leads')

  const third = terminal(folder)
  await third.shows('waits for its turn')
  const ended = once(second.child, 'exit')
  second.child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
  await third.shows('leads')
})
