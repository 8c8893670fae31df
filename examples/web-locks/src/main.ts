import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'

const folder = mkdtempSync(join(tmpdir(), 'leasehold-web-locks-'))
const program = fileURLToPath(new URL('worker.ts', import.meta.url))

type Worker = ChildProcessByStdio<Writable, Readable, null>

function start(owner: string): Worker {
  const options = ['--import', 'tsx', '--conditions', '@leasehold/source', program, folder, owner]
  return spawn(process.execPath, options, { stdio: ['pipe', 'pipe', 'inherit'], timeout: 60_000 })
}

async function linesOf(worker: Worker, onLine: (line: string) => void): Promise<void> {
  await once(createInterface({ input: worker.stdout }).on('line', onLine), 'close')
}

try {
  const killed = start('anna')
  await linesOf(killed, (line) => {
    console.log(`${line}, and is killed`)
    killed.kill('SIGKILL')
  })
  let importing = ''
  const imported: string[] = []
  const readers: string[] = []
  const others = ['berta', 'clara'].map((owner) => ({ owner, worker: start(owner) }))
  const ended = others.map(({ owner, worker }) =>
    linesOf(worker, (line) => {
      if (line.endsWith(' imports')) importing += importing === '' ? owner : ` beside ${importing}`
      else if (line.endsWith(' has imported') && importing === owner) {
        imported.push(owner)
        importing = ''
      } else if (line.endsWith(' reads')) readers.push(owner)
      // Both have the lock now.
      if (readers.length === 2) for (const other of others) other.worker.stdin.write('end')
    }),
  )
  await Promise.all(ended)
  console.log(`imported one after the other: ${imported.sort().join(', ')}`)
  console.log(`read together: ${readers.sort().join(', ')}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
