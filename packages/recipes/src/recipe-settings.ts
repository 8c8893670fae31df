import { ProviderOptions } from '@leasehold/core/store'

/** The settings of each recipe in a configuration, by its kind. After a change: `npm run docs:options`. */
export const recipeSettings = {
  'leader-election': new ProviderOptions('leader-election', {
    resignPause: {
      type: 'duration',
      description:
        'The pause after a term that this process gave up, before it campaigns again. Empty: twice heartbeat-interval, 10 s at most.',
    },
    stopTimeout: {
      type: 'duration',
      default: '10s',
      description: 'For how long stop() and resign() wait for the work to end.',
    },
  }),
} as const
