import { afterAll, beforeAll } from 'vitest'
import { leases, TestApiServer } from '../../../kubernetes/test/support/api-server/test-api-server.js'
import { subjectOver } from '../../../kubernetes/test/support/law-subjects.js'
import { describeAllRecipes } from '../support/all-recipes.js'

let server: TestApiServer

beforeAll(async () => {
  server = await TestApiServer.start()
})

afterAll(() => server.stop())

// The laws advance the clocks of the clients; the server's clock does not matter.
const place = { port: () => server.port, remove: (name: string) => server.remove(leases, name) }
describeAllRecipes((recipe) => ({ ...recipe, store: subjectOver(place, 'lease', 'virtual') }))
