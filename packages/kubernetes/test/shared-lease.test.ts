import { afterAll, beforeAll } from 'vitest'
import { TestApiServer } from './support/api-server/test-api-server.js'
import { kubeConfigFor } from './support/kube-config-for.js'
import { describeSharedLease } from './support/shared-lease.js'

let server: TestApiServer

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(() => server.stop())

describeSharedLease(() => kubeConfigFor(server.port))
