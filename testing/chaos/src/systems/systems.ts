import { azureBlobSystem } from './azure-blob/system.js'
import { consulSystem } from './consul/system.js'
import { dynamodbSystem } from './dynamodb/system.js'
import { etcdSystem } from './etcd/system.js'
import { kubernetesSystem } from './kubernetes/system.js'
import { localSystem } from './local/system.js'
import { mariadbSystem, mysqlSystem } from './mysql/system.js'
import { natsSystem } from './nats/system.js'
import { postgresSystem } from './postgres/system.js'
import { redisSystem } from './redis/system.js'
import { redisQuorumSystem } from './redis-quorum/system.js'
import { s3System } from './s3/system.js'
import type { System } from './system.js'

/** The stores of Leasehold, in the order of their names. */
export const systems: readonly System[] = [
  azureBlobSystem,
  consulSystem,
  dynamodbSystem,
  etcdSystem,
  kubernetesSystem,
  localSystem,
  mariadbSystem,
  mysqlSystem,
  natsSystem,
  postgresSystem,
  redisQuorumSystem,
  redisSystem,
  s3System,
]
