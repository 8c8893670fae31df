/**
 * `runner.ts FOLDER OWNER LENGTH`: runs the key `import`, whose work takes LENGTH milliseconds, until it has an outcome.
 * SIGTERM closes the recipe.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { LocalLeaseStore } from '@leasehold/local'
import { Once } from '@leasehold/recipes'

const [folder = '', owner = '', length = '0'] = process.argv.slice(2)

function print(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`)
}

// The child must not outlive its parent.
process.stdin.on('end', () => process.exit()).resume()

const store = new LocalLeaseStore({ folder })
const times = { heartbeatTimeout: 2_000, heartbeatInterval: 300, operationTimeout: 500 }
const once = new Once(store, { owner, ...times })

process.on('SIGTERM', async () => {
  await once.stop()
  print({ event: 'closed' })
  process.exit()
})

for (let isOver = false; !isOver; ) {
  print({ event: 'runs' })
  try {
    const outcome = await once.run(
      'import',
      async ({ signal, fencingToken }) => {
        print({ event: 'works', token: String(fencingToken) })
        await pause(Number(length), undefined, { signal })
        return owner
      },
      { wait: Number.POSITIVE_INFINITY },
    )
    print({ event: 'outcome', outcome })
    isOver = true
  } catch (error) {
    print({ event: 'error', error: (error as Error).name })
    await pause(10)
  }
}
