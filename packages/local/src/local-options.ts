import { ProviderOptions } from '@leasehold/core/store-kit'

/** The options of the block `leasehold.local`. */
export const localOptions = new ProviderOptions('local', {
  folder: {
    type: 'text',
    example: '"var/leases"',
    description:
      'The folder of the leases, on a local disk, the same for all processes. It is created if it does not exist.',
  },
  mode: {
    type: 'text',
    default: '"700"',
    description:
      'The permissions of a folder that is created, and of its content, in octal digits; "770" for a group. In code a ' +
      'number, such as 0o770.',
  },
})
