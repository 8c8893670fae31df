// @ts-check
// The process: opens the store, starts the service, answers probes, and stops in order.
import { setTimeout } from 'node:timers/promises'
import { serveProbes } from './probes.js'
import { startService } from './service.js'
import { advice, heartbeatTimeout, openStore } from './store.js'

const { PORT = '8080', POD_NAME: owner, HEARTBEAT_TIMEOUT = String(heartbeatTimeout) } = process.env

/** @param {string} line */
const print = (line) => console.log(line)

/** @param {unknown} error */
function printProblem(error) {
  console.error(`my-service: ${error instanceof Error ? error.message : error}`)
  console.error(advice)
}

// A warning of the library, such as a store that cannot be reached, comes as a warning of the process. Node prints it.
process.on('warning', ({ name }) => name === 'LeaseholdWarning' && console.error(advice))

try {
  const { store, save, close } = await openStore()
  const service = startService({
    store,
    save,
    print,
    pause: (milliseconds, { signal }) => setTimeout(milliseconds, undefined, { signal }),
    lease: { heartbeatTimeout: Number(HEARTBEAT_TIMEOUT), ...(owner === undefined ? {} : { owner }) },
  })
  const probes = serveProbes(service, Number(PORT))

  /** @param {NodeJS.Signals} signal */
  const stop = async (signal) => {
    print(`${signal}: stopping`)
    probes.isStopping = true
    try {
      await service.stop()
      await close()
    } catch (error) {
      // The lease of a work that did not end expires by itself.
      printProblem(error)
      process.exitCode = 1
    }
    process.exit()
  }
  // `once`: a second Ctrl-C ends the process at once.
  process.once('SIGTERM', stop)
  process.once('SIGINT', stop)
} catch (error) {
  printProblem(error)
  process.exit(1)
}
