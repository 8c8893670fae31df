// @ts-check
// The process: opens the store, starts the service, answers probes, and stops in order.
import { setTimeout } from 'node:timers/promises'
import { LeaseError } from '@leasehold/core'
import { serveProbes } from './probes.js'
import { startService } from './service.js'
import { advice, heartbeatTimeout, openStore } from './store.js'

const { PORT = '8080', POD_NAME: owner, HEARTBEAT_TIMEOUT = String(heartbeatTimeout) } = process.env

/** @param {string} line */
const print = (line) => console.log(line)

/** @param {unknown} error */
function report(error) {
  console.error(`my-service: ${error instanceof Error ? error.message : error}`)
  // The store cannot be reached, or has refused.
  if (error instanceof LeaseError && error.code !== 'lost') console.error(advice)
}

// A store that cannot be reached is a warning of the process, which Node prints: the work waits, and goes on by itself.
process.on('warning', ({ name }) => name === 'LeaseholdWarning' && console.error(advice))

try {
  const { store, save, close } = await openStore()
  const service = startService({
    store,
    save,
    print,
    report,
    pause: (milliseconds, { signal }) => setTimeout(milliseconds, undefined, { signal }),
    lease: { heartbeatTimeout: Number(HEARTBEAT_TIMEOUT), ...(owner === undefined ? {} : { owner }) },
  })
  const probes = serveProbes(service, Number(PORT))
  print(`my-service is process ${process.pid}, with its probes on port ${PORT}.`)

  /** @param {NodeJS.Signals} signal */
  const stop = async (signal) => {
    print(`${signal}: stopping`)
    probes.isStopping = true
    try {
      await service.stop()
      await close()
    } catch (error) {
      // The lease of a work that has not ended expires by itself.
      report(error)
      process.exitCode = 1
    }
    process.exit()
  }
  // `once`: a second Ctrl-C ends the process at once.
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  // It could not start. Docker, Kubernetes or systemd starts it again.
  console.error(`my-service: ${error instanceof Error ? error.message : error}`)
  console.error(advice)
  process.exit(1)
}
