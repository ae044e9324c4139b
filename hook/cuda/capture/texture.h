/* Texture and surface objects. */
#ifndef NEUTRINO_CUDA_CAPTURE_TEXTURE_H
#define NEUTRINO_CUDA_CAPTURE_TEXTURE_H

/* When a region begins: refuse it if any object exists. */
void nb_capture_refuse_textures(void) __attribute__((visibility("hidden")));

#endif
