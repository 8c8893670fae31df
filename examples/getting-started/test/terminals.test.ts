import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { eventually, temporaryFolder } from '@leasehold/testing'
import { expect, it, onTestFinished } from 'vitest'

const tsx = import.meta.resolve('tsx')

/** The program of a page in a process of its own, as in one of the two terminals. */
function terminal(folder: string, program: string) {
  const file = fileURLToPath(new URL(`../src/${program}`, import.meta.url))
  const options = ['--import', tsx, '--conditions', '@leasehold/source', file]
  const child = spawn(process.execPath, options, { cwd: folder, timeout: 170_000 })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  return {
    child,
    shows: (text: string) => eventually(`'${text}' in: ${output}`, async () => output.includes(`${child.pid} ${text}`)),
    output: () => output,
  }
}

it.each([
  ['leader.ts', 'leads', 'works'],
  ['guarded.ts', 'prints', "got 'hello'"],
])(
  '%s: one of two terminals works; after a kill, and after Ctrl-C, another one does',
  {
    timeout: 180_000,
  },
  async (program, begins, works) => {
    const folder = temporaryFolder()
    const first = terminal(folder, program)
    await first.shows(begins)
    await first.shows(works)
    const second = terminal(folder, program)
    await second.shows('waits for its turn')
    expect(second.output()).not.toContain(begins)
    first.child.kill('SIGKILL')
    await second.shows(begins)
    await second.shows(works)

    const third = terminal(folder, program)
    await third.shows('waits for its turn')
    const ended = once(second.child, 'exit')
    second.child.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    await third.shows(begins)
  },
)
