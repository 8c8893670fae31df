import { type Finishing, temporaryFolder } from '@leasehold/testing'
import { expect, it } from 'vitest'
import { linkPackages, project } from './support/project.js'
import { ServiceProcess } from './support/service-process.js'

function written(test: Finishing): string {
  const folder = temporaryFolder(test)
  linkPackages(folder)
  return project(folder, 'local', 'leader')
}

it.concurrent('a service whose port is in use says so, and leads nothing', async (test) => {
  const folder = written(test)
  const first = await ServiceProcess.start(test, folder, {})
  await first.prints(/saved round 1/)
  const second = await ServiceProcess.start(test, folder, {}, first.port)
  expect(await second.ended()).toBe(1)
  expect(second.printed).toMatch(/address already in use.*\nChoose another port: PORT=8081 npm start\n$/)
  await first.end('SIGTERM')
})

it.concurrent('a service with a wrong duration says which number to change', async (test) => {
  const service = await ServiceProcess.start(test, written(test), { HEARTBEAT_TIMEOUT: 'soon' })
  expect(await service.ended()).toBe(1)
  expect(service.printed).toMatch(/heartbeatTimeout/)
})
