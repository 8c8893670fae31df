export { type FastifyLeasesOptions, fastifyLeases } from './fastify-leases.js'
export { fromFastifyLogger } from './fastify-logger.js'
export type {
  AddedRecipe,
  LeasedElectionOptions,
  LeasedScheduleOptions,
  LeaseOptions,
  Leases,
  RunOptions,
  WithLog,
} from './leases.js'
