import { azureBlobSystem } from './azure-blob/system.js'
import { dynamodbSystem } from './dynamodb/system.js'
import { redisSystem } from './redis/system.js'
import { s3System } from './s3/system.js'
import type { System } from './system.js'

/** All stores that can be run. */
export const systems: readonly System[] = [redisSystem, s3System, dynamodbSystem, azureBlobSystem]
