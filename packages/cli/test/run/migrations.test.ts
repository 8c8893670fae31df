import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { eventually, type Finishing } from '@leasehold/testing'
import { describe, it } from 'vitest'
import { leaseFolder, program } from '../support/leasehold-program.js'

const start = fileURLToPath(new URL('readme/start.sh', import.meta.url))

/** In the place of `npx prisma migrate deploy`: fails while there is a file `broken`, and hangs half-way if there is one `slow`. */
const migration = `#!/bin/sh
echo "begun" >> "$HOME/log"
if [ -e "$HOME/broken" ]; then exit 3; fi
if [ -e "$HOME/slow" ]; then rm "$HOME/slow"; echo half-way >> "$HOME/log"; sleep 100; echo late >> "$HOME/log"; fi
echo "migrated $LEASEHOLD_FENCING_TOKEN" >> "$HOME/log"
`

/** A machine with the programs that the script calls, and the release that starts on it. */
function machine(test: Finishing) {
  const folder = leaseFolder(test)
  const write = (name: string, text: string): void => {
    writeFileSync(join(folder, 'bin', name), text)
    chmodSync(join(folder, 'bin', name), 0o755)
  }
  mkdirSync(join(folder, 'bin'))
  write('leasehold', `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`)
  write('npx', migration)
  writeFileSync(join(folder, 'server.js'), "require('node:fs').appendFileSync('log', 'serves\\n')\n")
  const log = join(folder, 'log')
  return {
    mark: (name: string) => writeFileSync(join(folder, name), ''),
    unmark: (name: string) => rmSync(join(folder, name)),
    lines: () => (existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : []),
    start: (release: string) => {
      const child = spawn('sh', [start], {
        cwd: folder,
        stdio: 'ignore',
        // A group of its own, which a test can kill as a whole.
        detached: true,
        env: {
          PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
          HOME: folder,
          XDG_STATE_HOME: folder,
          RELEASE: release,
          LEASEHOLD_LEASE_HEARTBEAT__TIMEOUT: '6s',
        },
      })
      return { child, ended: codeOf(child) }
    },
  }
}

function codeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once('close', resolve))
}

describe.concurrent('migrations at the start of several instances', () => {
  it('run once for a release; all instances serve afterwards', async (test) => {
    const { start, lines } = machine(test)
    const codes = await Promise.all([start('v7').ended, start('v7').ended, start('v7').ended])
    test.expect(codes).toEqual([0, 0, 0])
    test.expect(lines().map((line) => line.split(' ')[0])).toEqual(['begun', 'migrated', 'serves', 'serves', 'serves'])
    await start('v7').ended
    test.expect(lines().filter((line) => line === 'begun').length).toBe(1)
    await start('v8').ended
    test.expect(lines().filter((line) => line === 'begun').length).toBe(2)
  })

  it('are done by the next instance if one is killed half-way, and nothing of the first goes on', async (test) => {
    const { start, lines, mark } = machine(test)
    mark('slow')
    const first = start('v7')
    await eventually('half-way', async () => lines().includes('half-way'))
    const second = start('v7')
    process.kill(-(first.child.pid ?? 0), 'SIGKILL')
    test.expect(await second.ended).toBe(0)
    test.expect(lines().map((line) => line.split(' ')[0])).toEqual(['begun', 'half-way', 'begun', 'migrated', 'serves'])
  })

  it('that fail end the start with their code, and the next start tries again', async (test) => {
    const { start, lines, mark, unmark } = machine(test)
    mark('broken')
    test.expect(await start('v7').ended).toBe(3)
    test.expect(lines()).toEqual(['begun'])
    unmark('broken')
    test.expect(await start('v7').ended).toBe(0)
    test.expect(lines().map((line) => line.split(' ')[0])).toEqual(['begun', 'begun', 'migrated', 'serves'])
  })
})
