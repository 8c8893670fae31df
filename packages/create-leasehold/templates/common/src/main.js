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
  const isOfStore =
    error instanceof LeaseError && ['timeout', 'unauthorised', 'unavailable', 'unfit'].includes(error.code)
  if (isOfStore) console.error(advice)
}

/**
 * It could not start. Docker, Kubernetes or systemd starts it again.
 *
 * @param {unknown} error
 * @param {string} whatToDo
 * @returns {never}
 */
function fail(error, whatToDo) {
  console.error(`my-service: ${error instanceof Error ? error.message : error}`)
  console.error(whatToDo)
  process.exit(1)
}

// Node prints the warnings of the library. While the store cannot be reached, the work waits, and goes on by itself.
process.on('warning', ({ name, message }) => {
  if (name === 'LeaseholdWarning' && message.includes('the store cannot be used')) console.error(advice)
})

const probes = await serveProbes(PORT).catch((error) => fail(error, 'Choose another port: PORT=8081 npm start'))
const { store, save, close } = await openStore().catch((error) => fail(error, advice))

try {
  const service = startService({
    store,
    save,
    print,
    report,
    pause: (milliseconds, { signal }) => setTimeout(milliseconds, undefined, { signal }),
    lease: { heartbeatTimeout: Number(HEARTBEAT_TIMEOUT), ...(owner === undefined ? {} : { owner }) },
  })
  probes.service = service
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
  // A setting is wrong: the error says which one.
  report(error)
  process.exit(1)
}
