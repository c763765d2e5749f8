/*
 * pictures/picture_png.c - writes pixels as PNG with libpng; see pictures.h. Android stores colours
 * that are premultiplied by alpha; PNG does not.
 */
#include "pictures/pictures.h"

#include "base/scope.h"
#include "base/error.h"

#ifdef HAVE_PNG
#include <png.h>

/* Divides a colour by its alpha, which Android has multiplied into the colour. */
static uint8_t divide(uint8_t colour, uint8_t alpha)
{
	const unsigned whole = alpha ? (colour * 255u + alpha / 2u) / alpha : 0;

	return whole > 255 ? 255 : (uint8_t)whole;
}

/* Converts a pixel to RGBA. */
static void convert(const uint8_t *from, unsigned pixel_bytes, uint8_t *to)
{
	unsigned wide;

	switch (pixel_bytes) {
	case 4:
		for (int i = 0; i < 3; i++)
			to[i] = divide(from[i], from[3]);
		to[3] = from[3];
		break;
	case 2:
		wide = from[0] | (unsigned)from[1] << 8;
		to[0] = (uint8_t)((wide >> 11) * 255 / 31);
		to[1] = (uint8_t)((wide >> 5 & 63) * 255 / 63);
		to[2] = (uint8_t)((wide & 31) * 255 / 31);
		to[3] = 255;
		break;
	default:
		to[0] = to[1] = to[2] = 0;
		to[3] = from[0];
		break;
	}
}

bool picture_png_is_there(void)
{
	return true;
}

int picture_png_write(const struct pixels *pixels, FILE *file, struct hdb_error *err)
{
	const uint64_t count = (uint64_t)pixels->width * pixels->height;
	png_image image = {
		.version = PNG_IMAGE_VERSION,
		.width = pixels->width,
		.height = pixels->height,
		.format = PNG_FORMAT_RGBA,
	};
	BASE_FREED uint8_t *rgba = NULL;

	if (!pixels->width || !pixels->height || pixels->width > PICTURE_SIDE_MAX ||
	    pixels->height > PICTURE_SIDE_MAX ||
	    (pixels->pixel_bytes != 4 && pixels->pixel_bytes != 2 && pixels->pixel_bytes != 1))
		return hdb_fail(err, HDB_EUSAGE,
				"cannot write a PNG of %u x %u pixels with %u bytes per pixel",
				(unsigned)pixels->width, (unsigned)pixels->height,
				(unsigned)pixels->pixel_bytes);
	TRY(BASE_ALLOC(rgba, count * 4, "an image", err));
	for (uint64_t i = 0; i < count; i++)
		convert(pixels->bytes + i * pixels->pixel_bytes, pixels->pixel_bytes, rgba + i * 4);
	if (!png_image_write_to_stdio(&image, file, 0, rgba, 0, NULL))
		return hdb_fail(err, HDB_EIO, "%s", image.message);
	return HDB_OK;
}

#else

bool picture_png_is_there(void)
{
	return false;
}

int picture_png_write(const struct pixels *pixels, FILE *file, struct hdb_error *err)
{
	(void)pixels;
	(void)file;
	return hdb_fail(err, HDB_EBUG, "built without libpng");
}

#endif
