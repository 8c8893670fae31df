import { Publisher } from '@leasehold/core/internal'

/** The channels of the recipes. */
export const recipePublishers = {
  elected: new Publisher('leasehold:elected'),
  resigned: new Publisher('leasehold:resigned'),
  tick: new Publisher('leasehold:tick'),
  permit: new Publisher('leasehold:permit'),
  partition: new Publisher('leasehold:partition'),
  partitions: new Publisher('leasehold:partitions'),
} as const
